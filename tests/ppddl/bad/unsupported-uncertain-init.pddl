; expect 13:10 unsupported: an uncertain initial state ('oneof') cannot be represented in a propositional SSP
; expect 13:28 unsupported: an uncertain initial state ('unknown') cannot be represented in a propositional SSP
; expect 13:42 unsupported: an uncertain initial state ('or') cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (oneof (p) (q o)) (unknown (p)) (or (p) (q o)))
  (:goal (q o)))
