; expect 7:13 parse: 'forall' takes a list of variables and an effect, found 3 parts
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (forall (?y - thing) (q ?y) (p))))
