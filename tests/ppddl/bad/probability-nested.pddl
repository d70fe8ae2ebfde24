; expect 8:13 semantic: the probabilities sum to 1.1, which is over 1
; expect 8:32 semantic: the probabilities sum to 1.4, which is over 1
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 0.5 (probabilistic 0.7 (p) 0.7 (q ?x)) 0.6 (p))))
