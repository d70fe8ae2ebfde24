; expect 11:15 parse: expected an object, found '(n)'
; expect 12:28 semantic: the predicate 'q' takes 1 argument, found 2
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o (n) m - thing)
  (:init (q n) (q m) (q z) (q o o))
  (:goal (q o)))
