; expect 4:11 semantic: the type 'thing' is its own ancestor: thing - thing
; expect 9:14 parse: cannot read 'p#1'; expected a name, a variable or a number
(define (domain d)
  (:types thing box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q ?x)
    :effect (p#1)))
