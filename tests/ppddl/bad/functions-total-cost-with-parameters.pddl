; expect 3:16 semantic: the function 'total-cost' takes no parameters
(define (domain d)
  (:functions (total-cost ?x) - number))
