; expect 3:3 parse: '(' is never closed; expected a matching ')'
(define (domain d)
  (:predicates (p)
