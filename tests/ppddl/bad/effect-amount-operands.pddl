; expect 9:37 parse: '-' takes one or two operands, found 3
; expect 9:67 parse: '/' takes two operands, found 1
; expect 9:93 parse: '+' takes two or more operands, found 1
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (and (increase (reward) (- 1 2 3)) (decrease (reward) (/ 1)) (increase (reward) (+ 1)))))
