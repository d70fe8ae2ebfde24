; Exploding Blocksworld. Each block carries one charge, which may go off when it is put down and destroys what is
; under it: the table two times in five, a block one time in ten. Nothing can be put on what is destroyed, and a
; destroyed block cannot be picked up. A block in the hand stays clear.

(define (domain exploding-blocksworld)

  (:requirements :strips :typing :equality :negative-preconditions :conditional-effects :probabilistic-effects)

  (:types block)

  (:predicates
    (emptyhand)
    (holding ?x - block)
    (clear ?x - block)
    (on ?x ?y - block)
    (on-table ?x - block)
    (no-detonated ?x - block)
    (no-destroyed ?x - block)
    (no-destroyed-table))

  (:action pick-up
    :parameters (?x ?y - block)
    :precondition (and
      (no-destroyed ?x)
      (clear ?x)
      (on ?x ?y)
      (emptyhand))
    :effect (and
      (not (on ?x ?y))
      (not (emptyhand))
      (clear ?y)
      (holding ?x)))

  (:action pick-up-from-table
    :parameters (?x - block)
    :precondition (and
      (no-destroyed ?x)
      (clear ?x)
      (on-table ?x)
      (emptyhand))
    :effect (and
      (not (on-table ?x))
      (not (emptyhand))
      (holding ?x)))

  (:action put-on-block
    :parameters (?x ?y - block)
    :precondition (and
      (not (= ?x ?y))
      (no-destroyed ?y)
      (clear ?y)
      (holding ?x))
    :effect (and
      (probabilistic
        1/10 (when (no-detonated ?x)
          (and (not (no-detonated ?x)) (not (no-destroyed ?y)))))
      (not (holding ?x))
      (not (clear ?y))
      (on ?x ?y)
      (emptyhand)))

  (:action put-down
    :parameters (?x - block)
    :precondition (and
      (no-destroyed-table)
      (holding ?x))
    :effect (and
      (probabilistic
        2/5 (when (no-detonated ?x)
          (and (not (no-detonated ?x)) (not (no-destroyed-table)))))
      (not (holding ?x))
      (on-table ?x)
      (emptyhand))))
