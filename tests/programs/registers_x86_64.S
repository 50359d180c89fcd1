/*
 * Holds known values in every register while the thread spins or sleeps, then writes down what is in
 * them.  Called by registers.c, which compares; x86-64.  The red zone below rsp counts as registers.
 */
#define NR_NANOSLEEP 35
#define NR_PPOLL     271
#define K_AT	     2048 /* struct vector_state of registers.c */
#define X87_AT	     2112
#define MXCSR_AT     2240
#define CONTROL_AT   2244

	.macro function name
	.text
	.globl \name
	.type \name, @function
\name:
	.endm

/* rdi: 14 registers, the flags, the word for the red zone.  Nothing after popfq may change the flags. */
	.macro general_load
	.irp register, rbx, rbp, r12, r13, r14, r15, rsi, rdx
	pushq %\register
	.endr
	pushq 112(%rdi)
	popfq
	movq 120(%rdi), %rax
	.irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	movq %rax, -8 * \i(%rsp)
	.endr
	movq 0(%rdi), %rax
	movq 8(%rdi), %rbx
	movq 16(%rdi), %rdx
	movq 24(%rdi), %rsi
	movq 40(%rdi), %rbp
	movq 48(%rdi), %r8
	movq 56(%rdi), %r9
	movq 64(%rdi), %r10
	movq 72(%rdi), %r11
	movq 80(%rdi), %r12
	movq 88(%rdi), %r13
	movq 96(%rdi), %r14
	movq 104(%rdi), %r15
	movq 32(%rdi), %rdi
	.endm

/* rsi as it was at first: the same again, the red zone from the 16th word on. */
	.macro general_store
	movq 8(%rsp), %rcx
	movq %rax, 0(%rcx)
	movq %rbx, 8(%rcx)
	movq %rdx, 16(%rcx)
	movq %rsi, 24(%rcx)
	movq %rdi, 32(%rcx)
	movq %rbp, 40(%rcx)
	movq %r8, 48(%rcx)
	movq %r9, 56(%rcx)
	movq %r10, 64(%rcx)
	movq %r11, 72(%rcx)
	movq %r12, 80(%rcx)
	movq %r13, 88(%rcx)
	movq %r14, 96(%rcx)
	movq %r15, 104(%rcx)
	.irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	movq -8 * \i(%rsp), %rax
	movq %rax, 120 + 8 * \i(%rcx)
	.endr
	pushfq
	popq 112(%rcx)
	cld
	.irp register, rdx, rsi, r15, r14, r13, r12, rbp, rbx
	popq %\register
	.endr
	.endm

/* rdi: values, rsi: where to write them, rdx: turns of the loop */
	function registers_general_spin
	general_load
	movq (%rsp), %rcx
1:	jrcxz 2f
	leaq -1(%rcx), %rcx
	jmp 1b
2:	general_store
	ret

/* The same with a timespec in rdx; rax, rcx, rsi, rdi and r11 belong to the call. */
	function registers_general_sleep
	general_load
	movq (%rsp), %rdi
	movl $0, %esi
	movl $NR_NANOSLEEP, %eax
	syscall
	general_store
	ret

/* Nothing here may change the flags. */
	.macro ppoll_arguments
	movl $0, %edi
	movl $0, %esi
	movl $0, %r10d
	movl $8, %r8d
	movl $NR_PPOLL, %eax
	.endm

/* A wait for nothing, with a timespec in rdx; r8 and r10 belong to the call too. */
	function registers_general_ppoll
	general_load
	movq (%rsp), %rdx
	ppoll_arguments
	syscall
	general_store
	ret

	.macro x87_load
	subq $24, %rsp
	stmxcsr (%rsp)
	fnstcw 4(%rsp)
	ldmxcsr MXCSR_AT(%rdi)
	fninit
	fldcw CONTROL_AT(%rdi)
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	fldt X87_AT + 16 * \i(%rdi)
	.endr
	.endm

	.macro x87_store
	.irp i, 7, 6, 5, 4, 3, 2, 1, 0
	fstpt X87_AT + 16 * \i(%rsi)
	.endr
	stmxcsr MXCSR_AT(%rsi)
	fnstcw CONTROL_AT(%rsi)
	fninit
	fldcw 4(%rsp)
	ldmxcsr (%rsp)
	addq $24, %rsp
	.endm

	.macro spin
1:	decq %rdx
	jnz 1b
	.endm

	.macro sleep
	movq %rsi, %r8
	movq %rdx, %rdi
	xorl %esi, %esi
	movl $NR_NANOSLEEP, %eax
	syscall
	movq %r8, %rsi
	.endm

	.macro ppoll
	movq %rsi, %r9
	ppoll_arguments
	syscall
	movq %r9, %rsi
	.endm

/* rdi: struct vector_state; rsi: where to write it; rdx: turns of the loop or timespec */
	.macro zmm_function name, wait
	function \name
	x87_load
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqu64 64 * \i(%rdi), %zmm\i
	.endr
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq K_AT + 8 * \i(%rdi), %k\i
	.endr
	\wait
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqu64 %zmm\i, 64 * \i(%rsi)
	.endr
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq %k\i, K_AT + 8 * \i(%rsi)
	.endr
	vzeroupper
	x87_store
	ret
	.endm

	.macro ymm_function name, wait
	function \name
	x87_load
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu 64 * \i(%rdi), %ymm\i
	.endr
	\wait
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu %ymm\i, 64 * \i(%rsi)
	.endr
	vzeroupper
	x87_store
	ret
	.endm

	.macro xmm_function name, wait
	function \name
	x87_load
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu 64 * \i(%rdi), %xmm\i
	.endr
	\wait
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu %xmm\i, 64 * \i(%rsi)
	.endr
	x87_store
	ret
	.endm

	zmm_function registers_zmm_spin, spin
	zmm_function registers_zmm_sleep, sleep
	zmm_function registers_zmm_ppoll, ppoll
	ymm_function registers_ymm_spin, spin
	ymm_function registers_ymm_sleep, sleep
	ymm_function registers_ymm_ppoll, ppoll
	xmm_function registers_xmm_spin, spin
	xmm_function registers_xmm_sleep, sleep
	xmm_function registers_xmm_ppoll, ppoll

	.section .note.GNU-stack, "", @progbits
