; expect 12:10 unsupported: the trajectory constraint 'sometime' cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (p))
  (:goal (sometime (p))))
