; expect 3:11 semantic: the type 'a' is its own ancestor: a - b - c - a
(define (domain d)
  (:types a - b b - c c - a e - a)
  (:predicates (p ?x - a)))
(define (problem x)
  (:domain d)
  (:objects o - e)
  (:init (p o))
  (:goal (p o)))
