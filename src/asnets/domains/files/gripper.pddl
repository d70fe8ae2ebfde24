; Gripper. The kinds of things are predicates, not types. Deterministic.

(define (domain gripper-strips)

  (:requirements :strips)

  (:predicates
    (room ?x)
    (ball ?x)
    (gripper ?x)
    (at-robby ?r)
    (at ?b ?r)
    (carry ?b ?g)
    (free ?g))

  (:action move
    :parameters (?here ?there)
    :precondition (and
      (at-robby ?here)
      (room ?here)
      (room ?there))
    :effect (and
      (not (at-robby ?here))
      (at-robby ?there)))

  (:action pick
    :parameters (?b ?r ?g)
    :precondition (and
      (free ?g)
      (at ?b ?r)
      (at-robby ?r)
      (ball ?b)
      (room ?r)
      (gripper ?g))
    :effect (and
      (not (free ?g))
      (not (at ?b ?r))
      (carry ?b ?g)))

  (:action drop
    :parameters (?b ?r ?g)
    :precondition (and
      (carry ?b ?g)
      (at-robby ?r)
      (ball ?b)
      (room ?r)
      (gripper ?g))
    :effect (and
      (not (carry ?b ?g))
      (at ?b ?r)
      (free ?g))))
