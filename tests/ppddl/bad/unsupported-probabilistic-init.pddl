; expect 11:14 unsupported: a probabilistic initial state (other than outcomes of probability 1) cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (p) (probabilistic 0.5 (q o)))
  (:goal (q o)))
