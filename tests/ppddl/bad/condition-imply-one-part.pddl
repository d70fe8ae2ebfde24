; expect 7:19 parse: 'imply' takes two conditions, found 1 part
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (imply (p))
    :effect (p)))
