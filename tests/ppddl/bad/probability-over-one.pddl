; expect 7:28 semantic: the probability 1.01 is not between 0 and 1
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 1.01 (p))))
