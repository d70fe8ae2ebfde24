; expect 5:15 parse: the character '–' (U+2013) is not allowed outside comments
; expect 6:22 parse: the character '–' (U+2013) is not allowed outside comments
; expect 6:24 parse: expected a variable such as ?x, found 'box'
(define (domain d)
  (:types box – object)
  (:predicates (p ?x – box)))
