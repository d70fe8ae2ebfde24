; expect 4:4 parse: the section ':init' belongs in a problem, not in a domain
(define (domain d)
  (:predicates (p))
  (:init (p)))
