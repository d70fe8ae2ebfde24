; expect 5:3 unsupported: a process cannot be represented in a propositional SSP
; expect 6:3 unsupported: an event cannot be represented in a propositional SSP
(define (domain d)
  (:predicates (p))
  (:process a :effect (p))
  (:event b :effect (p)))
