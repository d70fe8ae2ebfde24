; expect 7:28 parse: expected a probability before the effect '(p)'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic (p) 0.5 (q ?x))))
