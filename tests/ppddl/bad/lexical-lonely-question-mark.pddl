; expect 7:22 parse: cannot read '?'; expected a name, a variable or a number
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q ?)
    :effect (p)))
