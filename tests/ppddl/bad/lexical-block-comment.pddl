; expect 3:1 parse: cannot read '#|'; expected a name, a variable or a number
; expect 3:13 parse: cannot read '|#'; expected a name, a variable or a number
#| a domain |#
(define (domain d))
