; expect 2:1 parse: expected '(define …', found 'hello'
hello
(define (domain d))
