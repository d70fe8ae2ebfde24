; expect 4:23 parse: expected a variable such as ?x, found 'box'; is a blank missing before the '-' of '?x-'?
(define (domain d)
  (:types box)
  (:predicates (p ?x- box)))
