; expect 3:15 parse: expected an object, found '?a'
(define (domain d)
  (:constants ?a b)
  (:predicates (p)))
