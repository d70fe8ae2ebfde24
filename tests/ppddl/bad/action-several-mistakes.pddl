; expect 13:26 semantic: undeclared type 'nowhere'
; expect 14:24 semantic: the predicate 'q' takes 1 argument, found 0
; expect 14:29 semantic: undeclared predicate 'r'
; expect 14:35 parse: 'not' takes one condition, found 0 parts
; expect 14:44 semantic: undeclared variable '?z'
; expect 15:18 semantic: the predicate 'q' takes 1 argument, found 2
; expect 15:28 parse: 'or' is not allowed in an effect
; expect 15:52 semantic: the probability 1.5 is not between 0 and 1
; expect 15:65 semantic: undeclared predicate 's'
(define (domain d)
  (:predicates (p) (q ?x))
  (:action a
    :parameters (?x ?y - nowhere)
    :precondition (and (q) (r ?x) (not) (q ?z))
    :effect (and (q ?x ?y) (or (p)) (probabilistic 1.5 (p) 0.2 (s)))))
