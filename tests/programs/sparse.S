/*
 * Code of all sorts, to be named: with a size, with an entry in .eh_frame, with neither, and with the
 * type that GHC gives its functions.  It is never run.
 */
#if defined(__x86_64__)
#define CALL call
#else
#define CALL bl
#endif

	.text
	.globl whole
	.type whole, %function
whole:
	.cfi_startproc
	CALL called_first
	CALL called_second
	ret
	.cfi_endproc
	.size whole, . - whole

/* Nothing names these two but the calls. */
	.balign 64
called_first:
	nop
	nop
	CALL called_second
	ret
	.balign 64
called_second:
	.rept 32
	nop
	.endr
	ret

/* A name without a size: it ends with its entry. */
	.balign 64
	.globl loose
	.type loose, %function
loose:
	.cfi_startproc
	nop
	nop
	ret
	.cfi_endproc

	.balign 64
	.type Main_main_info, %object
Main_main_info:
	.rept 16
	nop
	.endr
	ret
	.size Main_main_info, . - Main_main_info

	.balign 64
	.type base_label, %notype
base_label:
	.rept 16
	nop
	.endr
	ret

/* As the start code has it, with code behind it that has no name. */
	.balign 64
	.type frame_dummy, %function
frame_dummy:
	ret
	.balign 64
	.rept 16
	nop
	.endr
	ret

	.section .note.GNU-stack, "", %progbits
