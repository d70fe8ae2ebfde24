; expect 7:19 semantic: the predicate 'q' takes 1 argument, found 0
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q)
    :effect (p)))
