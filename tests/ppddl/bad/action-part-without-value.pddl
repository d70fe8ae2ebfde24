; expect 5:5 parse: expected a condition after :precondition
(define (domain d)
  (:predicates (p))
  (:action a
    :precondition
    :effect (p)))
