; expect 7:32 semantic: division by zero
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (increase (reward) (/ 3 0))))
