; A robot brings a cup of tea along a corridor. Running may spill it; looking before each step takes two actions a room.
(define (domain tea)
  (:requirements :strips :typing :negative-preconditions :probabilistic-effects)
  (:types room)
  (:predicates
    (next ?a ?b - room)      ; from a one comes to b, on the way to the table
    (kitchen ?r - room)
    (table ?r - room)
    (at ?r - room)
    (steady)                 ; the robot has looked, and its next step spills nothing
    (full)                   ; the cup that it carries
    (served))

  (:action fill
    :parameters (?r - room)
    :precondition (and (at ?r) (kitchen ?r) (not (full)))
    :effect (full))

  (:action run
    :parameters (?a ?b - room)
    :precondition (and (at ?a) (next ?a ?b) (not (steady)))
    :effect (and (at ?b) (not (at ?a)) (probabilistic 1/5 (not (full)))))

  (:action look
    :parameters ()
    :precondition (not (steady))
    :effect (steady))

  (:action walk
    :parameters (?a ?b - room)
    :precondition (and (at ?a) (next ?a ?b) (steady))
    :effect (and (at ?b) (not (at ?a)) (not (steady))))

  ; With an empty cup the robot takes the lift back to the kitchen.
  (:action go-back
    :parameters (?r ?k - room)
    :precondition (and (at ?r) (kitchen ?k) (not (kitchen ?r)) (not (full)))
    :effect (and (at ?k) (not (at ?r)) (not (steady))))

  (:action serve
    :parameters (?r - room)
    :precondition (and (at ?r) (table ?r) (full))
    :effect (served)))
