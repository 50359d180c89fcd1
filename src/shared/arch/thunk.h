/*
 * The interface of shared/arch/NAME/thunk.S and alloc_thunk.S with their C code.  Included by
 * assembly too: numbers only.
 */
#pragma once

#ifndef HOOKS_MAX
#define HOOKS_MAX 4096 /* each has a stub of its own, made when the library is built */
#endif

/* struct hook */
#define HOOK_SIZE        64
#define HOOK_AT_ORIGINAL 0
#define HOOK_AT_ENTRY    8
#define HOOK_AT_WRAPPER  16
#define HOOK_AT_IS_ON    40
#define HOOK_AT_MARK     52

/* struct hook_frame */
#define FRAME_ARGUMENTS 0
#define FRAME_INDIRECT  64
#define FRAME_HOOK      72
#define FRAME_IN_FLIGHT 80 /* its own address until the traced call has returned */
#define FRAME_BEGIN     88
#define FRAME_RESULTS   96
#define FRAME_CHOICE    112
#define FRAME_LINK      128 /* the caller's frame pointer, then the return address */
#define FRAME_SIZE      144

/* The instruction at the return address of calls in these entries does nothing and holds this
 * number: limpet recognises such addresses by it.  A thread returns there only while a frame above
 * is in flight. */
#if defined(__x86_64__)
#define RETURN_MARK    0x4c504d54
#define RETURN_MARK_AT 3 /* nop [rax + RETURN_MARK] */
#else
#define RETURN_MARK    0xd289aa1f /* mov xzr, #0x4d50 */
#define RETURN_MARK_AT 0
#endif

/* struct hook_around: precedes its frame */
#define AROUND_BYTES 32

/* struct thread_state of hooks/writer.c */
#define SELF_AT_WRITER  0
#define SELF_AT_SESSION 8

/* struct alloc_known */
#define KNOWN_AT_OPERATORS 0
#define KNOWN_AT_THUNKS    16
#define KNOWN_AT_SESSION   32
#define KNOWN_AT_SELF      40

/* struct writer */
#define WRITER_AT_SAMPLE_LEFT 40
#define WRITER_AT_HANDING_ON  56

/* The slot of an address: the exclusive or of the bits above both, below the number of slots. */
#define ALLOC_FILTER_BYTES 8192
#define ALLOC_FILTER_LOW   4
#define ALLOC_FILTER_HIGH  17

/* Words of the caller's stack that thunk_any hands on, and thunk_wide; even numbers. */
#define STACK_WINDOW_WORDS 14
#define STACK_WIDE_WORDS   24

/* The caller's stack may end before the window does: memory must be tested unless the window is all
 * in the page of the frame's link. */
#define WINDOW_PAGE        4096
#define WINDOW_LAST_OFFSET 3968 /* of the link in its page: 16 bytes and the window follow */
#define WIDE_LAST_OFFSET   3888

/* Bytes of a stub; arguments that are in registers. */
#if defined(__x86_64__)
#define STUB_SIZE          16
#define ARGUMENT_REGISTERS 6
#else
#define STUB_SIZE          20
#define ARGUMENT_REGISTERS 8
#endif
