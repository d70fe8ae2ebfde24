; expect 11:13 semantic: the object 'k' is already a constant of the domain
(define (domain d)
  (:types box - thing)
  (:constants k - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (q ?x)))
(define (problem x)
  (:domain d)
  (:objects k - thing)
  (:goal (q k)))
