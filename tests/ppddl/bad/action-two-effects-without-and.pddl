; expect 5:17 parse: expected :parameters, :precondition or :effect, found '(q)'; several conditions or effects are joined by (and …)
(define (domain d)
  (:predicates (p) (q))
  (:action a
    :effect (p) (q)
    :precondition (p)))
