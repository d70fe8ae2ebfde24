; expect 7:19 parse: 'not' takes one condition, found 2 parts
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (not (p) (q ?x))
    :effect (p)))
