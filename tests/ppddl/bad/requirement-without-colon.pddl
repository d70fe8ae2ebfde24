; expect 3:18 parse: expected a requirement such as :typing, found 'strips'
(define (domain d)
  (:requirements strips)
  (:predicates (p)))
