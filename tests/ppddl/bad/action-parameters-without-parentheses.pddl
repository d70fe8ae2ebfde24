; expect 5:17 parse: expected a list of variables in parentheses, found '?x'
(define (domain d)
  (:predicates (p ?x))
  (:action a
    :parameters ?x
    :effect (p ?x)))
