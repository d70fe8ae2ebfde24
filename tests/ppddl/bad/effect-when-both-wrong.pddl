; expect 10:20 semantic: undeclared predicate 'r'
; expect 10:31 semantic: undeclared variable '?y'
; expect 10:35 semantic: the predicate 'p' takes 0 arguments, found 1
; expect 10:38 semantic: undeclared object 'p'
(define (domain d)
  (:types box - thing)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (when (r) (and (q ?y) (p p)))))
