; expect 8:37 semantic: undeclared function 'distance'; did you mean 'distances'?
(define (domain d)
  (:types box - thing)
  (:functions (distances ?x) (total-cost) - number)
  (:predicates (p) (q ?x - thing))
  (:action a
    :parameters (?x - thing)
    :effect (increase (total-cost) (distance ?x))))
