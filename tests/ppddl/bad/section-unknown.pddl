; expect 3:4 parse: unknown section ':predicate'; did you mean :predicates?
(define (domain d)
  (:predicate (p))
  (:action a :effect (p)))
