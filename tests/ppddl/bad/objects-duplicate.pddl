; expect 11:15 semantic: the object 'o' is already defined in line 10
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing
    n - thing O - thing)
  (:init (p))
  (:goal (q o)))
