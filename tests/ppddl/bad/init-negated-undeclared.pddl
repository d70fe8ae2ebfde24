; expect 12:20 semantic: undeclared predicate 'z'
; expect 12:32 semantic: undeclared object 'oo'; did you mean 'o'?
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (p) (not (z)) (not (q oo)))
  (:goal (q o)))
