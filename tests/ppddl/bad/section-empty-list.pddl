; expect 3:3 parse: expected a section such as (:init …), found '()'
(define (domain d)
  ()
  (:predicates (p)))
