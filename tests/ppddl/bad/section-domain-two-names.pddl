; expect 9:3 parse: :domain takes the name of the domain, found 2 parts
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d e)
  (:objects o - thing)
  (:init (p))
  (:goal (q o)))
