; expect 13:3 unsupported: a goal probability cannot be represented in a propositional SSP
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
  (:goal (q o))
  (:goal-probability 0.5))
