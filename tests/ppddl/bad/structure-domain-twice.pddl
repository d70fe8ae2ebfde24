; expect 3:1 semantic: the domain 'd' is already defined in line 2
(define (domain d) (:predicates (p)))
(define (domain D) (:predicates (p)))
