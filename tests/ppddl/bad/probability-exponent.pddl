; expect 7:28 parse: expected a probability such as 0.25 or 1/4, found '1e-3'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 1e-3 (p))))
