/*
 * x86-64: the entry of the bootstrap code, and the exit of its last thread.  See
 * target/bootstrap/entry.h.
 */
	.section .entry, "ax", @progbits

	/* CODE_CLONE.  The parent returns (into its emergency frame, if no tracer stops it); the
	 * child takes its context from its new stack.  No return address is there for the child: it
	 * must not return. */
	.globl boot_begin
boot_begin:
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	xor	%ebp, %ebp
	pop	%rdi
	jmp	boot_starter

	/* CODE_CALL */
	.balign 64
	jmp	boot_from_call

	.text
	.globl boot_spawn
	.hidden boot_spawn
boot_spawn:
	sub	$16, %rsi
	mov	%rdx, (%rsi)
	mov	%rcx, 8(%rsi)
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	xor	%ebp, %ebp
	pop	%rdi
	pop	%rax
	sub	$8, %rsp
	jmp	*%rax

	.globl boot_leave
	.hidden boot_leave
boot_leave:
	mov	%r8, %rsp
	mov	$11, %eax
	jmp	*%rdx

	.section .note.GNU-stack, "", @progbits
