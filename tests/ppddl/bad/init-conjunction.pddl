; expect 11:10 parse: 'and' is not allowed in :init, which is a list of facts
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (and (p) (q o)))
  (:goal (q o)))
