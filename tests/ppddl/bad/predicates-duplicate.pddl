; expect 5:6 semantic: the predicate 'p' is already defined in line 3
(define (domain d)
  (:predicates (p)
    (q ?x)
    (P ?x)))
