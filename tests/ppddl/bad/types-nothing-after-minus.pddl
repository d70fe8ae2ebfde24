; expect 3:15 parse: expected a type after '-'
(define (domain d)
  (:types box -)
  (:predicates (p ?x - box)))
