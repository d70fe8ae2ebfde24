; expect 7:27 parse: expected an atom, found '()'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (and (p) (not ()))))
