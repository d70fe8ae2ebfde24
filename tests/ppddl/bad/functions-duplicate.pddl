; expect 3:23 semantic: the function 'f' is already defined in line 3
(define (domain d)
  (:functions (f ?x) (f ?x ?y) - number))
