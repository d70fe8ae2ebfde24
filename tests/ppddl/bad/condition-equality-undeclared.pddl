; expect 7:30 semantic: undeclared object 'nobody'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (not (= ?x nobody))
    :effect (p)))
