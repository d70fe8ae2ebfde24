; expect 7:16 semantic: 'k' is of type 'b', but argument 1 of 'p' is of type 'a'
(define (domain d)
  (:types a b)
  (:constants k - b)
  (:predicates (p ?x - a))
  (:action go
    :effect (p k)))
