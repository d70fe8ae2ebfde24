; expect 3:23 parse: expected a name before '-'
(define (domain d)
  (:types box - thing - object)
  (:predicates (p)))
