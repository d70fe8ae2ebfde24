; expect 7:13 semantic: the probabilities sum to more than 1 (by about 1e-37)
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 0.9 (p) 0.1000000000000000000000000000000000001 (q ?x))))
