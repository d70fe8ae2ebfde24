; expect 3:11 semantic: the type 'a' is its own ancestor: a - a
(define (domain d)
  (:types a - a)
  (:predicates (p ?x - a)))
