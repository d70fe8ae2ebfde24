; expect 5:5 parse: expected :parameters, :precondition or :effect, found ':parameter'; did you mean :parameters?
(define (domain d)
  (:predicates (p))
  (:action a
    :parameter (?x)
    :effect (p)))
