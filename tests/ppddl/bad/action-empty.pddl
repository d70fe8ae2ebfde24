; expect 4:3 parse: expected the name of the action after ':action'
(define (domain d)
  (:predicates (p))
  (:action))
