; expect 5:12 semantic: the action 'go' is already defined in line 4
(define (domain d)
  (:predicates (p))
  (:action Go :effect (p))
  (:action go :effect (not (p))))
