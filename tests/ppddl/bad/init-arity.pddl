; expect 13:10 semantic: the predicate 'p' takes 0 arguments, found 1
; expect 13:16 semantic: the predicate 'q' takes 1 argument, found 0
; expect 13:20 semantic: the predicate 'q' takes 1 argument, found 2
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (p o) (q) (q o o))
  (:goal (q o)))
