; expect 8:14 parse: cannot read 'p#1'; expected a name, a variable or a number
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q ?x)
    :effect (p#1)))
