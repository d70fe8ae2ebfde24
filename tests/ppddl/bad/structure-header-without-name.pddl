; expect 2:9 parse: expected (domain NAME), found '(domain)'
(define (domain) (:predicates (p)))
