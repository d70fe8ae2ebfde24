; expect 2:1 parse: ')' without a matching '('; nothing is open here
)
(define (domain d))
