; expect 3:17 parse: '=' is the built-in equality and is not declared
(define (domain d)
  (:predicates (= ?x ?y) (p)))
