; expect 4:28 unsupported: a function with values other than numbers cannot be represented in a propositional SSP
(define (domain d)
  (:types place)
  (:functions (where ?x) - place)
  (:predicates (p)))
