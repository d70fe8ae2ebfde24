; expect 3:21 parse: ')' without a matching '('; nothing is open here
(define (domain d)
  (:predicates (p))))
