; expect 5:11 semantic: the type 'thing' is its own ancestor: thing - thing
; expect 9:20 parse: cannot read 'q$$#'; expected a name, a variable or a number
; expect 10:14 semantic: undeclared predicate 'r'
(define (domain d)
  (:types thing box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q$$#)
    :effect (r ?x)))
