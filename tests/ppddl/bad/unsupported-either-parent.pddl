; expect 3:17 unsupported: (either …) as the parent of a type cannot be represented in a propositional SSP
(define (domain d)
  (:types a b - (either c e))
  (:predicates (p ?x - a)))
