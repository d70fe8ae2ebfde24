; expect 2:17 parse: expected the name of the domain, found ':strips'
(define (domain :strips) (:predicates (p)))
