; expect 7:20 parse: expected a predicate or a connective, found '(p)'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition ((p))
    :effect (p)))
