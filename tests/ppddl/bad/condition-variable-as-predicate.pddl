; expect 7:20 parse: expected a predicate, found '?x'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (?x)
    :effect (p)))
