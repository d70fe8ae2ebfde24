; expect 7:22 semantic: undeclared object 'key'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q key)
    :effect (p)))
