; expect 10:18 unsupported: the numeric effect 'assign' cannot be represented in a propositional SSP
; expect 10:39 unsupported: the numeric effect 'decrease' of '(fuel ?x)' cannot be represented in a propositional SSP
; expect 10:62 unsupported: the numeric effect 'scale-up' cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:functions (fuel ?x))
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (and (assign (fuel ?x) 3) (decrease (fuel ?x) 1) (scale-up (fuel ?x) 2) (p))))
