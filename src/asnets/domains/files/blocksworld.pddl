; Blocksworld with four operators. Deterministic.

(define (domain blocks)

  (:requirements :strips :typing)

  (:types block)

  (:predicates
    (handempty)
    (holding ?a - block)
    (clear ?a - block)
    (on ?a ?b - block)
    (ontable ?a - block))

  (:action pick-up
    :parameters (?a - block)
    :precondition (and
      (handempty)
      (ontable ?a)
      (clear ?a))
    :effect (and
      (holding ?a)
      (not (handempty))
      (not (ontable ?a))
      (not (clear ?a))))

  (:action put-down
    :parameters (?a - block)
    :precondition (holding ?a)
    :effect (and
      (handempty)
      (ontable ?a)
      (clear ?a)
      (not (holding ?a))))

  (:action stack
    :parameters (?a ?b - block)
    :precondition (and
      (clear ?b)
      (holding ?a))
    :effect (and
      (handempty)
      (on ?a ?b)
      (clear ?a)
      (not (clear ?b))
      (not (holding ?a))))

  (:action unstack
    :parameters (?a ?b - block)
    :precondition (and
      (handempty)
      (on ?a ?b)
      (clear ?a))
    :effect (and
      (holding ?a)
      (clear ?b)
      (not (handempty))
      (not (on ?a ?b))
      (not (clear ?a)))))
