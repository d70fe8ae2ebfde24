; expect 8:28 semantic: the probability -0.1 is not between 0 and 1
; expect 8:37 semantic: the probability -1/2 is not between 0 and 1
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic -0.1 (p) -1/2 (q ?x))))
