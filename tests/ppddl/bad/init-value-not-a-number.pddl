; expect 11:26 parse: expected a number, found 'zero'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects o - thing)
  (:init (= (total-cost) zero))
  (:goal (q o)))
