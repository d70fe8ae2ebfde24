; expect 3:4 parse: unknown section ':zebra'; expected one of :requirements, :types, :constants, :predicates, :functions, :action
(define (domain d)
  (:zebra (p))
  (:predicates (p)))
