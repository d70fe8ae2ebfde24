; expect 11:10 parse: expected (= (function object …) number) in :init
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (= 3 (f o)))
  (:goal (q o)))
