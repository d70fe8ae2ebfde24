; expect 4:3 semantic: the section :predicates is already given in line 3
(define (domain d)
  (:predicates (p))
  (:predicates (q))
  (:action a :precondition (p) :effect (q)))
