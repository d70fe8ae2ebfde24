; expect 8:24 parse: the character 'é' (U+00E9) is not allowed outside comments
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :precondition (q ?x)
    :effect (not (q café))))
