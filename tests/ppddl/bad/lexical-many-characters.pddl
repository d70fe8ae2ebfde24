; expect 23:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 24:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 25:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 26:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 27:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 28:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 29:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 30:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 31:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 32:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 33:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 34:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 35:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 36:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 37:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 38:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 39:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 40:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 41:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 42:3 parse: the character 'é' (U+00E9) is not allowed outside comments
; expect 43:3 parse: 2 more places with characters that are not allowed from here on
(define (domain d)
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é
  é)
