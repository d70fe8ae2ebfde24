; expect 3:20 parse: this ')' ends the definition, but ':action' follows; is it one ')' too many?
(define (domain d)
  (:predicates (p)))
  (:action a
    :effect (p)))
