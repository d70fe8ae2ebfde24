; expect 2:1 parse: expected (domain NAME) or (problem NAME) after 'define'
(define)
