; expect 10:27 semantic: undeclared type 'thign'; did you mean 'thing'?
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing n - thign)
  (:init (p))
  (:goal (q o)))
