; expect 4:12 parse: cannot read "'go'"; expected a name, a variable or a number
(define (domain d)
  (:predicates (p))
  (:action 'go' :effect (p)))
