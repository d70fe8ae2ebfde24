; expect 3:11 semantic: the type 'object' is the root and has no parent
(define (domain d)
  (:types object - thing)
  (:predicates (p)))
