; expect 11:10 parse: 'not' takes one atom, found 2 parts
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (not (p) (q o)))
  (:goal (q o)))
