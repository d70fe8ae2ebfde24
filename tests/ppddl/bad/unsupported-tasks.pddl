; expect 5:3 unsupported: a task network cannot be represented in a propositional SSP
; expect 6:3 unsupported: a task network cannot be represented in a propositional SSP
(define (domain d)
  (:predicates (p))
  (:task t)
  (:method m :task (t)))
