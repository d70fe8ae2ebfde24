; expect 4:24 parse: expected at least one type after 'either'
(define (domain d)
  (:types a)
  (:predicates (p ?x - (either))))
