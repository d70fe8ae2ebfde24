; expect 4:26 semantic: unknown requirement ':typ1ng'; did you mean :typing?
; expect 4:34 semantic: unknown requirement ':zebra'
(define (domain d)
  (:requirements :strips :typ1ng :zebra)
  (:predicates (p)))
