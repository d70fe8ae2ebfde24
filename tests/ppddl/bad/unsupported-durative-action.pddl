; expect 5:3 unsupported: a durative action cannot be represented in a propositional SSP
(define (domain d)
  (:requirements :durative-actions)
  (:predicates (p))
  (:durative-action a :parameters () :duration (= ?duration 3) :condition (at start (p)) :effect (at end (p))))
