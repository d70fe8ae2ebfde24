; expect 5:34 semantic: undeclared type 'zz'
; expect 5:39 semantic: undeclared type 'yy'
(define (domain d)
  (:types a b)
  (:predicates (p ?x - (either a zz b yy))))
