; expect 7:19 parse: 'forall' takes a list of variables and a condition, found 1 part
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (forall (q ?x))
    :effect (p)))
