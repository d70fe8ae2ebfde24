; expect 13:4 parse: the section ':predicates' belongs in a domain, not in a problem
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
  (:predicates (r)))
