; expect 4:22 parse: cannot read '-box'; expected a name, a variable or a number; is a blank missing after '-'?
(define (domain d)
  (:types box)
  (:predicates (p ?x -box)))
