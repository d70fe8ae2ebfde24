; expect 6:5 semantic: the action has two :effect parts
(define (domain d)
  (:predicates (p) (q))
  (:action a
    :effect (p)
    :effect (q)))
