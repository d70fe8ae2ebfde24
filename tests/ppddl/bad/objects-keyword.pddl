; expect 10:23 parse: expected an object, found ':n'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing :n)
  (:init (p))
  (:goal (q o)))
