; expect 8:20 parse: cannot read 'q$$#'; expected a name, a variable or a number
; expect 9:14 semantic: undeclared predicate 'r'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q$$#)
    :effect (r ?x)))
