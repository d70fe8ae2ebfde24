; expect 7:13 parse: '=' is not allowed in an effect
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (= ?x ?x)))
