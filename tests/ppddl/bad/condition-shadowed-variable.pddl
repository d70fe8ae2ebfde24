; expect 8:28 semantic: the variable '?x' shadows one of the same name outside
; expect 9:49 semantic: the variable '?y' shadows one of the same name outside
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (exists (?x - thing) (q ?x))
    :effect (forall (?y - thing) (when (exists (?y - box) (q ?y)) (q ?y)))))
