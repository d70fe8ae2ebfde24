; expect 7:13 parse: 'or' is not allowed in an effect
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (or (p) (q ?x))))
