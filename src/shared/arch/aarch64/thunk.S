/*
 * Hooked calls.  A hooked word holds the address of a stub; the stub finds its struct hook and goes
 * on to one of these entries:
 *
 *   thunk_registers  for functions whose arguments are all in registers
 *   thunk_chosen     the same, but first a C function decides whether the call is wanted at all: if
 *                    not, it goes on to the original, which sees its caller as ever
 *   thunk_any        for any function: hands on a window of the caller's stack, too
 *   thunk_wide       the same with a larger window
 *   thunk_around     like thunk_any, and calls hook_before(), which may change the arguments, and
 *                    hook_after(), which may change the result
 *   thunk_wrapper    goes to a C function, with the hook as its sixth argument
 *   thunk_notice     calls hook_notice() and goes on to the original, which sees its caller as ever
 *
 * All but the last two (and thunk_chosen, where it is not wanted) call the original as it was
 * called, note the time before, and call hook_leave() or hook_after() afterwards.  Nothing here or
 * behind them uses vector registers: their contents, of any width, are unchanged by entry and
 * return.  Return addresses are never replaced, and the frames are described for unwinders:
 * exceptions, longjmp and cancellation simply leave them behind.  A word of each frame holds its
 * own address while the call is in flight: limpet finds calls by it that are suspended below a
 * stack pointer.
 */
#include "shared/arch/thunk.h"

	.text

	.macro function name
	.globl \name
	.hidden \name
	.type \name, %function
	.balign 16
\name:
	.endm

	.macro enter_frame
	.cfi_startproc
	hint	#34 /* bti c */
	sub	sp, sp, #FRAME_SIZE
	.cfi_def_cfa_offset FRAME_SIZE
	stp	x29, x30, [sp, #FRAME_LINK]
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	add	x29, sp, #FRAME_LINK
	.cfi_def_cfa x29, 16
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x16, [sp, #FRAME_INDIRECT]
	add	x9, sp, #FRAME_IN_FLIGHT
	str	x9, [sp, #FRAME_IN_FLIGHT]
	.endm

	.macro note_time
	adrp	x9, clock_is_forbidden
	ldr	w10, [x9, :lo12:clock_is_forbidden]
	mov	x9, xzr
	cbnz	w10, 9f
	mrs	x9, cntvct_el0
9:
	str	x9, [sp, #FRAME_BEGIN]
	.endm

	.macro enter
	enter_frame
	note_time
	.endm

	/* Reloads arguments that hook_before() has clobbered, or changed on purpose. */
	.macro load_arguments
	sub	x9, x29, #FRAME_LINK
	ldp	x0, x1, [x9, #0]
	ldp	x2, x3, [x9, #16]
	ldp	x4, x5, [x9, #32]
	ldp	x6, x7, [x9, #48]
	ldp	x8, x16, [x9, #FRAME_INDIRECT]
	.endm

	/* `tell`: the function that gets the frame, or the address so many bytes before it. */
	.macro call_and_leave tell=hook_leave, before=0
	ldr	x17, [x16, #HOOK_AT_ORIGINAL]
	blr	x17
	.inst	RETURN_MARK
	sub	x9, x29, #FRAME_LINK
	stp	x0, x1, [x9, #FRAME_RESULTS]
	sub	x0, x29, #FRAME_LINK + \before
	mov	sp, x0
	bl	\tell
	.inst	RETURN_MARK
	sub	x9, x29, #FRAME_LINK
	mov	sp, x9
	ldp	x0, x1, [sp, #FRAME_RESULTS]
	str	xzr, [sp, #FRAME_IN_FLIGHT]
	ldp	x29, x30, [sp, #FRAME_LINK]
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa sp, FRAME_SIZE
	add	sp, sp, #FRAME_SIZE
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.endm

	function thunk_registers
	enter
	call_and_leave
	.size thunk_registers, . - thunk_registers

	function thunk_chosen
	enter_frame
	mov	x0, sp
	ldr	x17, [x16, #HOOK_AT_WRAPPER]
	blr	x17
	.inst	RETURN_MARK
	str	x0, [sp, #FRAME_CHOICE]
	cbz	x0, 1f
	note_time
	load_arguments
	call_and_leave
	.cfi_startproc
	.cfi_def_cfa x29, 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
1:	load_arguments
	str	xzr, [sp, #FRAME_IN_FLIGHT]
	ldp	x29, x30, [sp, #FRAME_LINK]
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa sp, FRAME_SIZE
	add	sp, sp, #FRAME_SIZE
	.cfi_def_cfa_offset 0
	ldr	x17, [x16, #HOOK_AT_ORIGINAL]
	br	x17
	.cfi_endproc
	.size thunk_chosen, . - thunk_chosen

	/* Continues at 1, or, if the end of the caller's stack is near, at 2. */
	.macro copy_window words, last, before=0
	sub	sp, sp, #\words * 8 + \before
	and	x9, x29, #(WINDOW_PAGE - 1)
	cmp	x9, #\last
	b.hi	2f
	.set	at, 0
	.rept	\words / 2
	ldp	x9, x10, [x29, #16 + at]
	stp	x9, x10, [sp, #at]
	.set	at, at + 16
	.endr
	.endm

	/* Memory beyond the end of the caller's stack is not read. */
	.macro copy_readable words
	.cfi_startproc
	.cfi_def_cfa x29, 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
2:	add	x0, x29, #16
	mov	w1, #\words
	bl	stack_readable
	.inst	RETURN_MARK
	mov	w9, w0
	add	x10, x29, #16
	mov	x11, sp
3:	cbz	w9, 4f
	ldr	x12, [x10], #8
	str	x12, [x11], #8
	sub	w9, w9, #1
	b	3b
4:
	.endm

	.macro hand_on_and_leave words, last
	copy_window \words, \last
1:	call_and_leave
	copy_readable \words
	load_arguments
	b	1b
	.cfi_endproc
	.endm

	function thunk_any
	enter
	hand_on_and_leave STACK_WINDOW_WORDS, WINDOW_LAST_OFFSET
	.size thunk_any, . - thunk_any

	function thunk_wide
	enter
	hand_on_and_leave STACK_WIDE_WORDS, WIDE_LAST_OFFSET
	.size thunk_wide, . - thunk_wide

	function thunk_around
	enter
	copy_window STACK_WINDOW_WORDS, WINDOW_LAST_OFFSET, AROUND_BYTES
1:	sub	x0, x29, #FRAME_LINK + AROUND_BYTES
	mov	x1, sp
	bl	hook_before
	.inst	RETURN_MARK
	load_arguments
	call_and_leave hook_after, AROUND_BYTES
	copy_readable STACK_WINDOW_WORDS
	b	1b
	.cfi_endproc
	.size thunk_around, . - thunk_around

	function thunk_wrapper
	.cfi_startproc
	hint	#34
	ldr	x17, [x16, #HOOK_AT_WRAPPER]
	mov	x5, x16
	br	x17
	.cfi_endproc
	.size thunk_wrapper, . - thunk_wrapper

	function thunk_notice
	.cfi_startproc
	hint	#34
	sub	sp, sp, #112
	.cfi_def_cfa_offset 112
	stp	x29, x30, [sp, #96]
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	add	x29, sp, #96
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x16, [sp, #64]
	add	x9, sp, #80
	str	x9, [sp, #80] /* in flight, as in struct hook_frame: behind the hook */
	mov	x1, sp
	mov	x0, x16
	bl	hook_notice
	.inst	RETURN_MARK
	ldp	x0, x1, [sp, #0]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x16, [sp, #64]
	str	xzr, [sp, #80]
	ldp	x29, x30, [sp, #96]
	.cfi_restore x29
	.cfi_restore x30
	add	sp, sp, #112
	.cfi_def_cfa_offset 0
	ldr	x17, [x16, #HOOK_AT_ORIGINAL]
	br	x17
	.cfi_endproc
	.size thunk_notice, . - thunk_notice

	/* One for each struct hook of hook_table. */
	function hook_stubs
	.cfi_startproc
	.set index, 0
	.rept HOOKS_MAX
	hint	#34
	adrp	x16, hook_table + index * HOOK_SIZE
	add	x16, x16, :lo12:hook_table + index * HOOK_SIZE
	ldr	x17, [x16, #HOOK_AT_ENTRY]
	br	x17
	.set index, index + 1
	.endr
	.cfi_endproc
	.size hook_stubs, . - hook_stubs

	/* This code has landing pads (BTI). */
	.section .note.gnu.property, "a", %note
	.balign 8
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0

	.section .note.GNU-stack, "", %progbits
