; expect 5:3 unsupported: a sensing action cannot be represented in a propositional SSP
; expect 6:26 unsupported: a sensing action cannot be represented in a propositional SSP
(define (domain d)
  (:predicates (p))
  (:observe (p))
  (:action a :effect (p) :observe (p)))
