; expect 8:23 semantic: undeclared variable '?form' (used 2 times); did you mean '?from'?
; expect 9:39 semantic: undeclared variable '?too'; did you mean '?to'?
; expect 11:23 semantic: undeclared variable '?form'
(define (domain d)
  (:predicates (at ?x))
  (:action a
    :parameters (?from ?to)
    :precondition (at ?form)
    :effect (and (not (at ?form)) (at ?too)))
  (:action b
    :precondition (at ?form)))
