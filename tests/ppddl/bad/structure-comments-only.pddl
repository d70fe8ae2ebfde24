; expect 4:1 parse: expected (define (domain …) …) or (define (problem …) …); the file is empty
; nothing here
; nor here
