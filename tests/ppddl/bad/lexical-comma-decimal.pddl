; expect 7:28 parse: cannot read '0,5'; expected a name, a variable or a number
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (probabilistic 0,5 (p))))
