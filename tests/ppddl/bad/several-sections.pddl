; expect 14:18 semantic: unknown requirement ':stripes'; did you mean :strips?
; expect 15:29 parse: expected a type after '-'
; expect 16:31 semantic: the predicate 'at' is already defined in line 16
; expect 19:24 semantic: the predicate 'at' takes 1 argument, found 2
; expect 19:37 semantic: undeclared predicate 'fre'; did you mean 'free'?
; expect 20:13 semantic: the probabilities sum to 1.1, which is over 1
; expect 21:3 parse: expected the name of the action after ':action'
; expect 22:4 parse: unknown section ':acton'; did you mean :action?
; expect 26:22 semantic: undeclared object 'c2'
; expect 26:26 semantic: the predicate 'at' takes 1 argument, found 0
; expect 26:41 parse: expected a number, found 'ten'
; expect 27:14 semantic: undeclared object 'c3'
(define (domain d)
  (:requirements :stripes)
  (:types car - vehicle bus - )
  (:predicates (at ?x - car) (at ?x - bus) (free ?y - plaze))
  (:action drive
    :parameters (?c - car ?to)
    :precondition (and (at ?c ?to) (fre ?to))
    :effect (probabilistic 0.7 (at ?c) 0.4 (not (at ?c))))
  (:action)
  (:acton fly :effect (at ?c)))
(define (problem x)
  (:domain d)
  (:objects c1 - car)
  (:init (at c1) (at c2) (at) (= (cost) ten))
  (:goal (at c3)))
