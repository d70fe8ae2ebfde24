; expect 8:19 semantic: '(f b)' already has the value 2 from line 7
(define (domain d)
  (:functions (f ?x) - number))
(define (problem x)
  (:domain d)
  (:objects a b)
  (:init (= (f a) 1) (= (f b) 2)
    (= (f a) 1.0) (= (f b) 1/2))
  (:goal (and)))
