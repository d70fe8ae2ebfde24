; expect 11:17 unsupported: an object of an (either …) type cannot be represented in a propositional SSP
; expect 11:42 unsupported: an object of an (either …) type cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - (either thing box) m n - (either thing box))
  (:init (p))
  (:goal (q o)))
