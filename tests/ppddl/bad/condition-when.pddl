; expect 7:19 parse: 'when' is not allowed in a condition
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (when (p) (q ?x))
    :effect (p)))
