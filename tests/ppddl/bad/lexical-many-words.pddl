; expect 24:6 parse: cannot read 'p0#'; expected a name, a variable or a number
; expect 25:6 parse: cannot read 'p1#'; expected a name, a variable or a number
; expect 26:6 parse: cannot read 'p2#'; expected a name, a variable or a number
; expect 27:6 parse: cannot read 'p3#'; expected a name, a variable or a number
; expect 28:6 parse: cannot read 'p4#'; expected a name, a variable or a number
; expect 29:6 parse: cannot read 'p5#'; expected a name, a variable or a number
; expect 30:6 parse: cannot read 'p6#'; expected a name, a variable or a number
; expect 31:6 parse: cannot read 'p7#'; expected a name, a variable or a number
; expect 32:6 parse: cannot read 'p8#'; expected a name, a variable or a number
; expect 33:6 parse: cannot read 'p9#'; expected a name, a variable or a number
; expect 34:6 parse: cannot read 'p10#'; expected a name, a variable or a number
; expect 35:6 parse: cannot read 'p11#'; expected a name, a variable or a number
; expect 36:6 parse: cannot read 'p12#'; expected a name, a variable or a number
; expect 37:6 parse: cannot read 'p13#'; expected a name, a variable or a number
; expect 38:6 parse: cannot read 'p14#'; expected a name, a variable or a number
; expect 39:6 parse: cannot read 'p15#'; expected a name, a variable or a number
; expect 40:6 parse: cannot read 'p16#'; expected a name, a variable or a number
; expect 41:6 parse: cannot read 'p17#'; expected a name, a variable or a number
; expect 42:6 parse: cannot read 'p18#'; expected a name, a variable or a number
; expect 43:6 parse: cannot read 'p19#'; expected a name, a variable or a number
; expect 44:6 parse: 3 more words that cannot be read from here on
(define (domain d)
  (:predicates
    (p0#)
    (p1#)
    (p2#)
    (p3#)
    (p4#)
    (p5#)
    (p6#)
    (p7#)
    (p8#)
    (p9#)
    (p10#)
    (p11#)
    (p12#)
    (p13#)
    (p14#)
    (p15#)
    (p16#)
    (p17#)
    (p18#)
    (p19#)
    (p20#)
    (p21#)
    (p22#)))
