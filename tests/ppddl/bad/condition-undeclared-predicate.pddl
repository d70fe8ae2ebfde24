; expect 7:25 semantic: undeclared predicate 'att' (used 2 times); did you mean 'at'?
; expect 7:34 semantic: undeclared predicate 'near'
(define (domain d)
  (:predicates (at ?x) (in ?x ?y))
  (:action a
    :parameters (?x)
    :precondition (and (att ?x) (near ?x))
    :effect (and (not (att ?x)) (at ?x))))
