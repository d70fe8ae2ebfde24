; expect 3:3 parse: expected a section such as (:init …), found ':types'
(define (domain d)
  :types a b
  (:predicates (p ?x - a)))
