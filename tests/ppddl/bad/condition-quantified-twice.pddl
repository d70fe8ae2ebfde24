; expect 7:31 semantic: the quantified variable '?y' is already defined in line 7
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (exists (?y ?y - thing) (q ?y))
    :effect (p)))
