; expect 13:17 semantic: undeclared object 'o2' (used 2 times); did you mean 'o'?
; expect 14:6 semantic: undeclared predicate 'r' (used 2 times)
; expect 14:14 semantic: undeclared variable '?x'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (p) (q O2)
    (r o) (q ?x) (q o2) (r o2))
  (:goal (q o)))
