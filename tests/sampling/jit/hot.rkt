#lang racket/base
; Calls for ever.
(define (inner n) (for/fold ([s 0]) ([i (in-range n)]) (modulo (+ s (* i 7)) 1000003)))
(define (middle n) (+ 1 (inner n)))
(let loop () (middle 100000) (loop))
