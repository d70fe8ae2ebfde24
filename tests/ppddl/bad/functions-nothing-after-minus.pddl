; expect 3:22 parse: expected 'number' after '-'
(define (domain d)
  (:functions (f ?x) -)
  (:predicates (p)))
