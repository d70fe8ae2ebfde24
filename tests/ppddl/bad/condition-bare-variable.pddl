; expect 7:24 parse: expected a condition, found '?x'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (and ?x)
    :effect (p)))
