; expect 3:16 parse: expected a predicate, found '()'
(define (domain d)
  (:predicates () (p)))
