; expect 3:23 parse: expected a variable such as ?x, found 'y'
(define (domain d)
  (:predicates (on ?x y))
  (:action a :parameters (?x ?y) :effect (on ?x ?y)))
