; expect 8:28 parse: expected an effect after the probability 0.5
; expect 8:43 parse: expected an effect after the probability 0.25
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 0.5 0.5 (q ?x) 0.25)))
