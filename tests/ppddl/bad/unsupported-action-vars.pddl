; expect 5:5 unsupported: ':vars' in an action cannot be represented in a propositional SSP
(define (domain d)
  (:predicates (p ?x))
  (:action a
    :vars (?x)
    :effect (p ?x)))
