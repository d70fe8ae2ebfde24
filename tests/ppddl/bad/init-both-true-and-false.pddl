; expect 11:25 semantic: the initial state says both '(q o)' and its negation
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (p) (q o) (not (q o)))
  (:goal (q o)))
