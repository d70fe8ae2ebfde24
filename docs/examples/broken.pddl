(define (domain broken)
  (:predicates (vehicle-at ?place) (road ?from ?to) (not-flattire))
  (:action drive
    :parameters (?from ?to)
    :precondition (and (vehicel-at ?from) (road ?from))
    :effect (and (vehicle-at ?to)
                 (probabilistic 0.7 (not (not-flattire)) 0.4 (not (vehicle-at ?from))))))
