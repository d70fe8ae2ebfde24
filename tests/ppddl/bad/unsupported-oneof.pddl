; expect 7:13 unsupported: the non-deterministic effect 'oneof' (no probabilities) cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (oneof (p) (q ?x))))
