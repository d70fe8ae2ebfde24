; expect 9:41 semantic: the function 'length' takes 1 argument, found 2
; expect 9:64 semantic: '?x' is of type 'thing', but argument 1 of 'weight' is of type 'box'
(define (domain d)
  (:types box - thing)
  (:functions (length ?x) (weight ?x - box) (total-cost))
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (increase (total-cost) (+ 1 (length ?x ?x) (weight ?x)))))
