; expect 2:1 parse: the character '（' (U+FF08) is not allowed outside comments
（define (domain d))
