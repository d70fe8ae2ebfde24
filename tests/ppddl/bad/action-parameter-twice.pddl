; expect 5:24 semantic: the parameter '?x' of the action 'a' is already defined in line 5
(define (domain d)
  (:predicates (p ?x))
  (:action a
    :parameters (?x ?y ?X)
    :effect (p ?x)))
