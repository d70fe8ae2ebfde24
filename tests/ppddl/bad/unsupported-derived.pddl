; expect 5:3 unsupported: a derived predicate cannot be represented in a propositional SSP
; expect 6:3 unsupported: an axiom cannot be represented in a propositional SSP
(define (domain d)
  (:predicates (p) (q))
  (:derived (q) (p))
  (:axiom :vars () :context (p) :implies (q)))
