; expect 3:11 parse: expected a type, found the number '1.5'
(define (domain d)
  (:types 1.5)
  (:predicates (p)))
