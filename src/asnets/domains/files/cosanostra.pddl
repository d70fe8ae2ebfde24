; CosaNostra Pizza. A toll is paid for the way back: an operator who was cheated once is angry for good, and wrecks
; the tires of every second car that leaves the booth from then on.

(define (domain cosanostra)

  (:requirements :strips :typing :negative-preconditions :conditional-effects :probabilistic-effects)

  (:types
    location - object
    open-intersection toll-booth - location)

  (:predicates
    (deliverator-at ?place - location)
    (pizza-at ?place - location)
    (have-pizza)
    (tires-intact)
    (road ?a ?b - location)
    (open ?toll - toll-booth)
    (operator-angry ?toll - toll-booth))

  (:action load-pizza
    :parameters (?place - location)
    :precondition (and
      (pizza-at ?place)
      (deliverator-at ?place))
    :effect (and
      (have-pizza)
      (not (pizza-at ?place))))

  (:action unload-pizza
    :parameters (?place - location)
    :precondition (and
      (have-pizza)
      (deliverator-at ?place))
    :effect (and
      (not (have-pizza))
      (pizza-at ?place)))

  (:action pay-operator
    :parameters (?toll - toll-booth)
    :precondition (deliverator-at ?toll)
    :effect (open ?toll))

  (:action leave-open-intersection
    :parameters (?a - open-intersection ?b - location)
    :precondition (and
      (tires-intact)
      (road ?a ?b)
      (deliverator-at ?a))
    :effect (and
      (deliverator-at ?b)
      (not (deliverator-at ?a))))

  (:action leave-toll-booth
    :parameters (?toll - toll-booth ?next - location)
    :precondition (and
      (tires-intact)
      (road ?toll ?next)
      (deliverator-at ?toll))
    :effect (and
      (when (not (open ?toll))
        (operator-angry ?toll))
      (when (not (operator-angry ?toll))
        (and (deliverator-at ?next) (not (deliverator-at ?toll))))
      (when (operator-angry ?toll)
        (probabilistic
          1/2 (and (deliverator-at ?next) (not (deliverator-at ?toll)))
          1/2 (not (tires-intact)))))))
