; expect 9:28 unsupported: a condition on 'reward', which changes, cannot be represented in a propositional SSP
; expect 9:56 unsupported: a condition on 'total-cost', which changes, cannot be represented in a propositional SSP
(define (domain d)
  (:types box - thing)
  (:functions (fuel ?x) (total-cost))
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (and (>= (reward) 3) (= (fuel ?x) (+ (total-cost) 1)) (p))
    :effect (p)))
