; expect 2:1 parse: expected '(define …', found '()'
()
