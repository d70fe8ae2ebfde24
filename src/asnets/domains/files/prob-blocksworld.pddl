; Probabilistic Blocksworld. One grasp or stacking in four fails, and a block that slips falls on the table.
; A block in the hand stays clear.

(define (domain prob_bw)

  (:requirements :strips :typing :equality :negative-preconditions :probabilistic-effects)

  (:types block)

  (:predicates
    (emptyhand)
    (holding ?x - block)
    (clear ?x - block)
    (on ?x ?y - block)
    (on-table ?x - block))

  (:action pick-up
    :parameters (?x ?y - block)
    :precondition (and
      (clear ?x)
      (on ?x ?y)
      (emptyhand))
    :effect (probabilistic
      3/4 (and
        (not (on ?x ?y))
        (not (emptyhand))
        (clear ?y)
        (holding ?x))
      1/4 (and
        (not (on ?x ?y))
        (clear ?y)
        (on-table ?x))))

  (:action pick-up-from-table
    :parameters (?x - block)
    :precondition (and
      (clear ?x)
      (on-table ?x)
      (emptyhand))
    :effect (probabilistic
      3/4 (and
        (not (on-table ?x))
        (not (emptyhand))
        (holding ?x))))

  (:action put-on-block
    :parameters (?x ?y - block)
    :precondition (and
      (not (= ?x ?y))
      (holding ?x)
      (clear ?x)
      (clear ?y))
    :effect (probabilistic
      3/4 (and
        (not (holding ?x))
        (not (clear ?y))
        (clear ?x)
        (on ?x ?y)
        (emptyhand))
      1/4 (and
        (not (holding ?x))
        (clear ?x)
        (on-table ?x)
        (emptyhand))))

  (:action put-down
    :parameters (?x - block)
    :precondition (and
      (holding ?x)
      (clear ?x))
    :effect (and
      (not (holding ?x))
      (clear ?x)
      (on-table ?x)
      (emptyhand))))
