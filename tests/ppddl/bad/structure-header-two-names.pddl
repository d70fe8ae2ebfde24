; expect 2:9 parse: expected (domain NAME), found '(domain my domain)'
(define (domain my domain) (:predicates (p)))
