; expect 4:24 parse: expected a type or (either type …), found '(oneof a)'
(define (domain d)
  (:types a)
  (:predicates (p ?x - (oneof a))))
