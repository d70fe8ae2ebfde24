; expect 7:37 semantic: the amount of 'reward' may not depend on 'reward'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (increase (reward) (* 2 (reward)))))
