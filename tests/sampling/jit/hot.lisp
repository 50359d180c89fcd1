; Calls that are not inlined, for ever.
(declaim (notinline inner middle))
(defun inner (n) (let ((s 0)) (dotimes (i n s) (setf s (mod (+ s (* i 7)) 1000003)))))
(defun middle (n) (+ 1 (inner n)))
(loop (middle 1000000))
