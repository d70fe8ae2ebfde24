; expect 2:8 parse: the character '\xa0' (U+00A0) is not allowed outside comments
(define (domain d)
  (:predicates (p)))
