; expect 7:13 parse: 'increase' takes a quantity and an amount, found 1 part
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (increase (reward))))
