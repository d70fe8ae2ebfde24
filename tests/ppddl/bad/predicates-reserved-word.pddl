; expect 4:17 parse: expected a predicate, found the reserved word 'and'
; expect 4:26 parse: expected a predicate, found the reserved word 'when'
(define (domain d)
  (:predicates (and ?x) (when)))
