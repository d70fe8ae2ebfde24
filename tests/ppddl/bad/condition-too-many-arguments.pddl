; expect 8:19 semantic: the predicate 'p' takes 0 arguments, found 1
; expect 9:13 semantic: the predicate 'q' takes 1 argument, found 2
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (p ?x)
    :effect (q ?x ?x)))
