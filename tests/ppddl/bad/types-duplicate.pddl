; expect 3:15 semantic: the type 'a' is already defined in line 3
(define (domain d)
  (:types a b a)
  (:predicates (p ?x - a)))
