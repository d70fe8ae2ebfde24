; expect 7:22 semantic: '?x' is of type (either a c), but argument 1 of 'p' is of type (either a b)
(define (domain d)
  (:types a b c)
  (:predicates (p ?x - (either a b)))
  (:action go
    :parameters (?x - (either a c) ?y - (either b a))
    :precondition (p ?x)
    :effect (p ?y)))
