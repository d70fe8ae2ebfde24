; expect 5:18 parse: expected a variable such as ?x, found 'x'
(define (domain d)
  (:predicates (p ?x))
  (:action a
    :parameters (x)
    :effect (p ?x)))
