; expect 7:18 parse: 'not' takes one atom in an effect, found '(and (p) (q ?x))'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (not (and (p) (q ?x)))))
