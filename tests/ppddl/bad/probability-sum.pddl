; expect 7:13 semantic: the probabilities sum to 7/6, which is over 1
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 1/3 (p) 1/3 (q ?x) 1/2 (not (p)))))
