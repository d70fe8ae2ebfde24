; expect 7:27 parse: expected a list of variables in parentheses, found '?y'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (forall ?y (q ?y))
    :effect (p)))
