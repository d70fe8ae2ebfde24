; expect 3:23 semantic: the parameter '?x' of 'on' is already defined in line 3
(define (domain d)
  (:predicates (on ?x ?x)))
