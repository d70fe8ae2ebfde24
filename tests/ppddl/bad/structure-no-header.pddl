; expect 2:9 parse: expected (domain NAME) or (problem NAME), found 'domain'
(define domain d)
