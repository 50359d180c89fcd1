/*
 * aarch64: the entry of the bootstrap code, and the exit of its last thread.  See
 * target/bootstrap/entry.h.
 */
	.section .entry, "ax", @progbits

	/* CODE_CLONE.  The parent returns (into its emergency frame, if no tracer stops it); the
	 * child takes its context from its new stack. */
	.globl boot_begin
boot_begin:
	svc	#0
	cbz	x0, 1f
	ret
1:	mov	x29, xzr
	mov	x30, xzr
	ldr	x0, [sp]
	b	boot_starter

	/* CODE_CALL.  x7 cannot be written back from outside at a system call stop. */
	.balign 64
	stp	x7, x30, [sp, #-16]!
	bl	boot_from_call
	ldp	x7, x30, [sp], #16
	ret

	.text
	.globl boot_spawn
	.hidden boot_spawn
boot_spawn:
	sub	x1, x1, #16
	stp	x2, x3, [x1]
	mov	x2, xzr
	mov	x3, xzr
	mov	x4, xzr
	mov	x8, #220
	svc	#0
	cbz	x0, 1f
	ret
1:	mov	x29, xzr
	mov	x30, xzr
	ldp	x0, x1, [sp], #16
	br	x1

	.globl boot_leave
	.hidden boot_leave
boot_leave:
	mov	x30, x3
	mov	x8, #215
	ret	x2 /* not br: libc's code may be guarded (BTI), and a return may go anywhere */

	.section .note.GNU-stack, "", @progbits
