; expect 2:1 parse: ':predicates' stands outside of (define …)
(:predicates (p))
(define (domain d))
