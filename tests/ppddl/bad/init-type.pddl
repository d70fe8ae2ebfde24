; expect 11:17 semantic: 'b1' is of type 'box', but argument 2 of 'at' is of type 'place'
(define (domain d)
  (:types place box - thing)
  (:predicates (p) (q ?x - thing) (at ?a - box ?b - place))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing b1 - box)
  (:init (at b1 b1))
  (:goal (q o)))
