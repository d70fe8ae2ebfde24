; expect 14:18 semantic: undeclared object 'oo'; did you mean 'o'?
; expect 14:23 semantic: undeclared predicate 'z'
; expect 14:29 semantic: undeclared variable '?v'
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
  (:goal (and (q oo) (z) (q ?v))))
