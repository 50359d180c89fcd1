/*
 * Holds known values in every register while the thread spins or sleeps, then writes down what is in
 * them.  Called by registers.c, which compares; aarch64.
 */
#define NR_NANOSLEEP 101
#define NR_PPOLL     73

	.macro callee_saved_push
	stp x29, x30, [sp, #-112]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	stp x1, x2, [sp, #96]
	.endm

	.macro callee_saved_pop
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp x29, x30, [sp], #112
	.endm

	.macro general_load
	ldr x3, [x0, #248]
	msr nzcv, x3
	.irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	ldr x\i, [x0, #\i * 8]
	.endr
	ldr x0, [sp, #104]
	.endm

	.macro general_store
	str x0, [sp, #104]
	ldr x0, [sp, #96]
	.irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	str x\i, [x0, #\i * 8]
	.endr
	mrs x3, nzcv
	str x3, [x0, #248]
	ldr x3, [sp, #104]
	str x3, [x0]
	.endm

	.macro function name
	.text
	.globl \name
	.type \name, %function
\name:
	.endm

/* x0: values of x0..x30 and nzcv, x1: where to write them, x2: turns of the loop */
	function registers_general_spin
	callee_saved_push
	general_load
1:	sub x0, x0, #1
	cbnz x0, 1b
	general_store
	callee_saved_pop
	ret

/* The same with a timespec in x2; x0, x1 and x8 belong to the call. */
	function registers_general_sleep
	callee_saved_push
	general_load
	mov x1, #0
	mov x8, #NR_NANOSLEEP
	svc #0
	general_store
	callee_saved_pop
	ret

	.macro ppoll_arguments
	mov x0, #0
	mov x1, #0
	mov x3, #0
	mov x4, #8
	mov x8, #NR_PPOLL
	.endm

/* A wait for nothing, with a timespec in x2; x0 to x4 and x8 belong to the call. */
	function registers_general_ppoll
	callee_saved_push
	general_load
	mov x2, x0
	ppoll_arguments
	svc #0
	general_store
	callee_saved_pop
	ret

	.macro doubles_push
	stp d8, d9, [sp, #-80]!
	stp d10, d11, [sp, #16]
	stp d12, d13, [sp, #32]
	stp d14, d15, [sp, #48]
	mrs x5, fpcr
	mrs x6, fpsr
	stp x5, x6, [sp, #64]
	.endm

	.macro doubles_pop
	ldp x5, x6, [sp, #64]
	msr fpcr, x5
	msr fpsr, x6
	ldp d10, d11, [sp, #16]
	ldp d12, d13, [sp, #32]
	ldp d14, d15, [sp, #48]
	ldp d8, d9, [sp], #80
	.endm

	.macro vector_load
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ldr q\i, [x0, #\i * 16]
	.endr
	ldr x5, [x0, #512]
	ldr x6, [x0, #520]
	msr fpcr, x5
	msr fpsr, x6
	.endm

	.macro vector_store
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	str q\i, [x1, #\i * 16]
	.endr
	mrs x5, fpcr
	mrs x6, fpsr
	str x5, [x1, #512]
	str x6, [x1, #520]
	.endm

/* x0: v0..v31, fpcr, fpsr; x1: where to write them; x2: turns of the loop */
	function registers_vector_spin
	doubles_push
	vector_load
1:	sub x2, x2, #1
	cbnz x2, 1b
	vector_store
	doubles_pop
	ret

/* The same with a timespec in x2. */
	function registers_vector_sleep
	doubles_push
	vector_load
	mov x9, x1
	mov x0, x2
	mov x1, #0
	mov x8, #NR_NANOSLEEP
	svc #0
	mov x1, x9
	vector_store
	doubles_pop
	ret

	function registers_vector_ppoll
	doubles_push
	vector_load
	mov x9, x1
	ppoll_arguments
	svc #0
	mov x1, x9
	vector_store
	doubles_pop
	ret

	.arch_extension sve

	function registers_sve_length
	cntb x0
	ret

/* x0: z0..z31, x1: ffr and p0..p15, x2, x3: where to write the two, x4: turns of the loop */
	function registers_sve_spin
	doubles_push
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ldr z\i, [x0, #\i, mul vl]
	.endr
	ldr p0, [x1]
	wrffr p0.b
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldr p\i, [x1, #\i + 1, mul vl]
	.endr
1:	sub x4, x4, #1
	cbnz x4, 1b
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	str z\i, [x2, #\i, mul vl]
	.endr
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	str p\i, [x3, #\i + 1, mul vl]
	.endr
	rdffr p0.b
	str p0, [x3]
	doubles_pop
	ret

	.section .note.GNU-stack, "", %progbits
