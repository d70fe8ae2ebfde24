; expect 4:3 unsupported: a trajectory constraint cannot be represented in a propositional SSP
(define (domain d)
  (:predicates (p))
  (:constraints (always (p))))
