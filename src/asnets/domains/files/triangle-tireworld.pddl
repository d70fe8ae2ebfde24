; Triangle Tireworld. Every move may cost a tire; a car with a flat tire is stuck unless a spare lies where it stands.

(define (domain triangle-tire)

  (:requirements :strips :typing :probabilistic-effects)

  (:types location)

  (:predicates
    (vehicle-at ?place - location)
    (spare-in ?place - location)
    (road ?a ?b - location)
    (not-flattire))

  (:action move-car
    :parameters (?a ?b - location)
    :precondition (and
      (not-flattire)
      (road ?a ?b)
      (vehicle-at ?a))
    :effect (and
      (not (vehicle-at ?a))
      (vehicle-at ?b)
      (probabilistic 1/2 (not (not-flattire)))))

  (:action changetire
    :parameters (?place - location)
    :precondition (and
      (vehicle-at ?place)
      (spare-in ?place))
    :effect (and
      (not-flattire)
      (not (spare-in ?place)))))
