; expect 20:47 parse: nested deeper than 150 levels of parentheses
(define (domain d)
  (:predicates (p))
  (:action a
    :precondition
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not 
      (not (not (not (not (not (not (not (not (not (not (p)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
