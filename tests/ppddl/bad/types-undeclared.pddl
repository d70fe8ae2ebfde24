; expect 4:28 semantic: undeclared type 'blok' (used 2 times); did you mean 'block'?
(define (domain d)
  (:types block)
  (:predicates (on ?x ?y - blok) (clear ?x - blok)))
