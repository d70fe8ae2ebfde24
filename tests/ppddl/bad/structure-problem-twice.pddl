; expect 13:1 semantic: the problem 'x' is already defined in line 8
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
  (:goal (q o)))
(define (problem x) (:domain d) (:goal (p)))
