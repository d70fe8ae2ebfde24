; expect 5:1 parse: cannot read '#|'; expected a name, a variable or a number
; expect 5:4 parse: expected '(define …', found 'a'
; expect 5:6 parse: expected '(define …', found 'domain'
; expect 5:13 parse: cannot read '|#'; expected a name, a variable or a number
#| a domain |#
(define (domain d))
