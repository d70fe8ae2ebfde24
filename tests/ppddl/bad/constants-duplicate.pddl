; expect 4:5 semantic: the constant 'a' is already defined in line 3
(define (domain d)
  (:constants a b
    A)
  (:predicates (p)))
