/*
 * Hooked calls; see aarch64's thunk.S.  The upper halves of vector registers, mask registers and
 * the x87 stack are not touched either.
 */
#include "shared/arch/thunk.h"

	.text
	.intel_syntax noprefix

	.macro function name
	.globl \name
	.hidden \name
	.type \name, @function
	.balign 16
\name:
	.endm

	/* nop [rax + RETURN_MARK] */
	.macro call_marked where:vararg
	call	\where
	.byte	0x0f, 0x1f, 0x80
	.long	RETURN_MARK
	.endm

	.macro enter_frame
	.cfi_startproc
	endbr64
	push	rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	rbp, rsp
	.cfi_def_cfa_register rbp
	sub	rsp, FRAME_LINK
	mov	[rsp], rdi
	mov	[rsp + 8], rsi
	mov	[rsp + 16], rdx
	mov	[rsp + 24], rcx
	mov	[rsp + 32], r8
	mov	[rsp + 40], r9
	mov	[rsp + 48], r10 /* of nested functions */
	mov	[rsp + FRAME_INDIRECT], rax /* the number of vector arguments */
	mov	[rsp + FRAME_HOOK], r11
	lea	rax, [rsp + FRAME_IN_FLIGHT]
	mov	[rsp + FRAME_IN_FLIGHT], rax
	.endm

	.macro note_time
	xor	eax, eax
	cmp	dword ptr [rip + clock_is_forbidden], eax
	jne	9f
	rdtsc
	shl	rdx, 32
	or	rax, rdx
9:
	mov	[rsp + FRAME_BEGIN], rax
	.endm

	.macro enter
	enter_frame
	note_time
	.endm

	/* Reloads arguments that hook_before() has clobbered, or changed on purpose. */
	.macro load_arguments
	mov	rdi, [rbp - FRAME_LINK]
	mov	rsi, [rbp - FRAME_LINK + 8]
	mov	rcx, [rbp - FRAME_LINK + 24]
	mov	r8, [rbp - FRAME_LINK + 32]
	mov	r9, [rbp - FRAME_LINK + 40]
	mov	r10, [rbp - FRAME_LINK + 48]
	mov	r11, [rbp - FRAME_LINK + FRAME_HOOK]
	.endm

	/* `tell`: the function that gets the frame, or the address so many bytes before it. */
	.macro call_and_leave tell=hook_leave, before=0
	mov	rdx, [rbp - FRAME_LINK + 16]
	mov	rax, [rbp - FRAME_LINK + FRAME_INDIRECT]
	call_marked [r11 + HOOK_AT_ORIGINAL]
	mov	[rbp - FRAME_LINK + FRAME_RESULTS], rax
	mov	[rbp - FRAME_LINK + FRAME_RESULTS + 8], rdx
	lea	rdi, [rbp - FRAME_LINK - \before]
	call_marked \tell
	mov	rax, [rbp - FRAME_LINK + FRAME_RESULTS]
	mov	rdx, [rbp - FRAME_LINK + FRAME_RESULTS + 8]
	mov	qword ptr [rbp - FRAME_LINK + FRAME_IN_FLIGHT], 0
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.endm

	function thunk_registers
	enter
	call_and_leave
	.size thunk_registers, . - thunk_registers

	function thunk_chosen
	enter_frame
	mov	rdi, rsp
	call_marked [r11 + HOOK_AT_WRAPPER]
	mov	[rsp + FRAME_CHOICE], rax
	test	rax, rax
	jz	1f
	note_time
	load_arguments
	call_and_leave
	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
1:	load_arguments
	mov	rdx, [rbp - FRAME_LINK + 16]
	mov	rax, [rbp - FRAME_LINK + FRAME_INDIRECT]
	mov	qword ptr [rbp - FRAME_LINK + FRAME_IN_FLIGHT], 0
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	jmp	[r11 + HOOK_AT_ORIGINAL]
	.cfi_endproc
	.size thunk_chosen, . - thunk_chosen

	/* Continues at 1, or, if the end of the caller's stack is near, at 2. */
	.macro copy_window words, last, before=0
	sub	rsp, \words * 8 + \before
	mov	eax, ebp
	and	eax, WINDOW_PAGE - 1
	cmp	eax, \last
	ja	2f
	.set	at, 0
	.rept	\words
	mov	rax, [rbp + 16 + at]
	mov	[rsp + at], rax
	.set	at, at + 8
	.endr
	.endm

	/* Memory beyond the end of the caller's stack is not read. */
	.macro copy_readable words
	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
2:	lea	rdi, [rbp + 16]
	mov	esi, \words
	call_marked stack_readable
	mov	ecx, eax
	lea	rsi, [rbp + 16]
	mov	rdi, rsp
	rep movsq
	.endm

	.macro hand_on_and_leave words, last
	copy_window \words, \last
1:	call_and_leave
	copy_readable \words
	load_arguments
	jmp	1b
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
1:	lea	rdi, [rbp - FRAME_LINK - AROUND_BYTES]
	mov	rsi, rsp
	call_marked hook_before
	load_arguments
	call_and_leave hook_after, AROUND_BYTES
	copy_readable STACK_WINDOW_WORDS
	jmp	1b
	.cfi_endproc
	.size thunk_around, . - thunk_around

	function thunk_wrapper
	.cfi_startproc
	endbr64
	mov	r9, r11
	jmp	[r11 + HOOK_AT_WRAPPER]
	.cfi_endproc
	.size thunk_wrapper, . - thunk_wrapper

	function thunk_notice
	.cfi_startproc
	endbr64
	push	rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	rbp, rsp
	.cfi_def_cfa_register rbp
	sub	rsp, 16
	mov	[rsp], rsp /* in flight, as in struct hook_frame: behind the hook */
	push	r11
	push	rax
	push	r9
	push	r8
	push	rcx
	push	rdx
	push	rsi
	push	rdi
	mov	rsi, rsp
	mov	rdi, r11
	call_marked hook_notice
	pop	rdi
	pop	rsi
	pop	rdx
	pop	rcx
	pop	r8
	pop	r9
	pop	rax
	pop	r11
	mov	qword ptr [rsp], 0
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	jmp	[r11 + HOOK_AT_ORIGINAL]
	.cfi_endproc
	.size thunk_notice, . - thunk_notice

	/* One for each struct hook of hook_table. */
	function hook_stubs
	.cfi_startproc
	.set index, 0
	.rept HOOKS_MAX
	endbr64
	lea	r11, [rip + hook_table + index * HOOK_SIZE]
	jmp	[r11 + HOOK_AT_ENTRY]
	nop
	.set index, index + 1
	.endr
	.cfi_endproc
	.size hook_stubs, . - hook_stubs

	/* This code has landing pads and returns where it was called from (IBT, SHSTK). */
	.section .note.gnu.property, "a", @note
	.balign 8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
