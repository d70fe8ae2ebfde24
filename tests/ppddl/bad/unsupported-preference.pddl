; expect 13:19 unsupported: a preference cannot be represented in a propositional SSP
; expect 14:21 unsupported: a preference in the metric cannot be represented in a propositional SSP
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
  (:goal (and (p) (preference g1 (q o))))
  (:metric minimize (is-violated g1)))
