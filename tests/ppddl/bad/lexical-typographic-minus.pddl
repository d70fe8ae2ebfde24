; expect 4:15 parse: the character '–' (U+2013) is not allowed outside comments
; expect 5:22 parse: the character '–' (U+2013) is not allowed outside comments
(define (domain d)
  (:types box – object)
  (:predicates (p ?x – box)))
