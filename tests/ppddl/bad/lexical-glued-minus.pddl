; expect 4:22 parse: cannot read '-2box'; expected a name, a variable or a number
(define (domain d)
  (:types box)
  (:predicates (p ?x -2box)))
