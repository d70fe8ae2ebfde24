; expect 3:11 parse: expected a name before '-'
(define (domain d)
  (:types - thing)
  (:predicates (p)))
