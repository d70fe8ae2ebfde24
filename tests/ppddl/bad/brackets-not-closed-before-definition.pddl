; expect 2:1 parse: '(' is not closed before '(define' in line 5; expected a matching ')'
(define (domain d)
  (:predicates (p))

(define (problem x)
  (:domain d)
  (:goal (p)))
