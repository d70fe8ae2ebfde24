; expect 2:10 parse: expected (domain NAME) or (problem NAME), found '(domian d)'
(define (domian d) (:predicates (p)))
