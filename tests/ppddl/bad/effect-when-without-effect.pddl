; expect 7:13 parse: 'when' takes a condition and an effect, found 1 part
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (when (p))))
