; expect 3:3 parse: expected a section such as (:init …), found '((:predicates (p)))'
(define (domain d)
  ((:predicates (p))))
