; expect 7:22 semantic: '?x' is of type 'thing', but argument 1 of 'r' is of type 'box'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (r ?b - box))
  (:action a
    :parameters (?x - thing)
    :precondition (r ?x)
    :effect (p)))
