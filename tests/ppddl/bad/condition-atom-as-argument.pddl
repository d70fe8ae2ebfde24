; expect 7:22 parse: expected an object or a variable, found '(q ?x)'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q (q ?x))
    :effect (p)))
