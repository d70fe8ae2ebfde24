; expect 4:12 parse: expected the name of the action, found ':effect'
(define (domain d)
  (:predicates (p))
  (:action :effect (p)))
