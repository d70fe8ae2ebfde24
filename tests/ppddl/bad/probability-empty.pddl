; expect 7:22 parse: expected a probability and an effect after 'probabilistic'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (and (p) (probabilistic))))
