; expect 4:3 parse: '(' is not closed before '(:action' in line 6; expected a matching ')'
(define (domain d)
  (:predicates (p) (q))
  (:action a
    :effect (and (p) (q))
  (:action b
    :effect (p)))
