; expect 9:12 semantic: the problem 'x' belongs to the domain 'e', but the domain given is 'd'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain e)
  (:objects o - thing)
  (:init (p))
  (:goal (q o)))
