; Monster. The monster appears at the end of one of two paths; leaving its place leads on once in a hundred tries, and
; nowhere otherwise.

(define (domain monster)

  (:requirements :strips :typing :negative-preconditions :conditional-effects :probabilistic-effects)

  (:types location)

  (:constants
    start finish - location
    left-end right-end - location)

  (:predicates
    (initialised)
    (robot-at ?place - location)
    (has-monster ?place - location)
    (conn ?a ?b - location))

  (:action init-monster
    :parameters ()
    :precondition (not (initialised))
    :effect (and
      (probabilistic
        1/2 (has-monster left-end)
        1/2 (has-monster right-end))
      (initialised)))

  (:action drive
    :parameters (?a ?b - location)
    :precondition (and
      (initialised)
      (robot-at ?a)
      (conn ?a ?b))
    :effect (and
      (when (not (has-monster ?a))
        (robot-at ?b))
      (when (has-monster ?a)
        (probabilistic 1/100 (robot-at ?b)))
      (not (robot-at ?a)))))
