; expect 9:24 unsupported: the numeric comparison '>=' in a condition cannot be represented in a propositional SSP
; expect 9:41 unsupported: a numeric comparison in a condition cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:functions (fuel ?x))
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (and (>= (fuel ?x) 3) (= (fuel ?x) 1) (p))
    :effect (p)))
