/*
 * x86-64: waits before the program's first instruction, see shared/arch/doorstep.h.  Must be
 * preserved for the program: rdx (the linker's exit function) and the stack as the kernel made it.
 */
#include "shared/arch/doorstep.h"

	.section .rodata
	.balign 64
	.globl doorstep_begin
	.globl doorstep_end
doorstep_begin:
	mov	%rdx, %r12
	lea	doorstep_begin + DOORSTEP_DATA(%rip), %rbx
	movl	$DOORSTEP_IS_THERE, DOORSTEP_STEP(%rbx)

	/* ppoll of nothing: a wait that neither libc nor the dynamic linker makes for itself. */
1:	movq	$0, DOORSTEP_PAUSE(%rbx)
	movq	$DOORSTEP_PAUSE_NS, DOORSTEP_PAUSE + 8(%rbx)
	xor	%edi, %edi
	xor	%esi, %esi
	lea	DOORSTEP_PAUSE(%rbx), %rdx
	xor	%r10d, %r10d
	mov	$8, %r8d
	mov	$271, %eax
	syscall
	mov	DOORSTEP_ERRAND(%rbx), %rax
	test	%rax, %rax
	jz	4f
	mov	%rsp, %r13
	and	$-16, %rsp
	mov	DOORSTEP_ARGUMENT(%rbx), %rdi
	xor	%esi, %esi
	call	*%rax
	mov	%r13, %rsp
	xor	%r13d, %r13d
	movq	$0, DOORSTEP_ERRAND(%rbx)
4:	cmpl	$0, DOORSTEP_GO(%rbx)
	jne	2f
	mov	$110, %eax /* getppid */
	syscall
	cmp	DOORSTEP_PARENT(%rbx), %eax
	je	1b

2:	mov	DOORSTEP_ENTRY_WORD(%rbx), %rax
	mov	DOORSTEP_ENTRY(%rbx), %rcx
	mov	%rcx, (%rax)
	movl	$DOORSTEP_HAS_LEFT, DOORSTEP_STEP(%rbx)
	mov	%r12, %rdx
	xor	%r12d, %r12d

	/* Unmaps itself by code that stays, which then returns into the program.  Not with a shadow
	 * stack, which allows no such return. */
	mov	DOORSTEP_SYSCALL_RETURN(%rbx), %r11
	mov	DOORSTEP_REGION(%rbx), %rdi
	mov	$DOORSTEP_SIZE, %esi
	xor	%ebx, %ebx
	xor	%eax, %eax
	rdsspq	%rax
	test	%rax, %rax
	jnz	3f
	test	%r11, %r11
	jz	3f
	push	%rcx
	mov	$11, %eax
	jmp	*%r11
3:	jmp	*%rcx
doorstep_end:

	.section .note.GNU-stack, "", @progbits
