; expect 13:38 semantic: undeclared function 'fuel-used'
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
  (:goal (q o))
  (:metric minimize (+ (total-cost) (fuel-used))))
