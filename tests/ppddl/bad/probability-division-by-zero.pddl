; expect 7:28 semantic: the fraction '1/0' divides by zero
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 1/0 (p))))
