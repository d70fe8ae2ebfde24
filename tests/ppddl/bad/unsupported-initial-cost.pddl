; expect 11:14 unsupported: an initial value of 'total-cost' other than 0 cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (p) (= (total-cost) 7))
  (:goal (q o)))
