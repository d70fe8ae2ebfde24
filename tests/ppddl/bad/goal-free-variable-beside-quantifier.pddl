; expect 12:47 semantic: undeclared variable '?v'
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
  (:goal (and (forall (?v - thing) (q ?v)) (q ?v))))
