; expect 3:3 parse: '(' is not closed before '(:action' in line 4; expected a matching ')'
(define (domain d)
  (:predicates (p) (q)
  (:action a
    :effect (p)))
