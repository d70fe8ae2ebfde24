; expect 7:32 parse: expected a number or a function, found '?x'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (increase (reward) ?x)))
