; expect 7:19 parse: '=' takes two terms, found 1 part
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (= ?x)
    :effect (p)))
