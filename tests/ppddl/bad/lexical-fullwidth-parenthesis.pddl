; expect 3:1 parse: the character '（' (U+FF08) is not allowed outside comments
; expect 3:19 parse: ')' without a matching '('; nothing is open here
（define (domain d))
