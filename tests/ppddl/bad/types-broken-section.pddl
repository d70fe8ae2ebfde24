; expect 3:13 parse: expected a type, found '?b'
(define (domain d)
  (:types a ?b c)
  (:constants k - kk)
  (:predicates (p ?x - a) (q ?x - b))
  (:action go :parameters (?x - zz) :precondition (p ?x) :effect (q ?x)))
