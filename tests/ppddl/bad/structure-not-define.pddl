; expect 2:2 parse: expected '(define …', found '(defin (domain d) (:predicates (p)))'
(defin (domain d) (:predicates (p)))
