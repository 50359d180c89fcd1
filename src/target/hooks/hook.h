/*
 * A hook: the function that a word pointed to before us, and what is to be written down about calls
 * of it.  A hook is never given to another function: the program may have kept the address of its
 * stub (by taking the function's address while it was hooked), and calls it long after we left.
 */
#pragma once

#include "shared/arch/thunk.h"
#include "shared/wire/record.h"

#include <stdbool.h>

struct hook;
struct function_name;
struct writer;

/* Where a value of a record comes from, once the call has returned. */
enum capture {
	CAPTURE_ARG0, /* six arguments, as they were given */
	CAPTURE_ARG1,
	CAPTURE_ARG2,
	CAPTURE_ARG3,
	CAPTURE_ARG4,
	CAPTURE_ARG5,
	CAPTURE_INT0, /* a number of 32 bits */
	CAPTURE_INT4,
	CAPTURE_FILE0, /* the descriptor of a FILE * */
	CAPTURE_FILE1,
	CAPTURE_FILE2,
	CAPTURE_FILE3,
	CAPTURE_FILE4,
	CAPTURE_PRODUCT01, /* of two arguments */
	CAPTURE_PRODUCT12,
	CAPTURE_PRODUCT23,
	CAPTURE_RESULT,
	CAPTURE_RESULT_TIMES1, /* and an argument: items into bytes */
	CAPTURE_RESULT_TIMES2,
	CAPTURE_LINE1, /* the length of the line that the first argument points to, at most that of
			  the second; 0 where the result is NULL */
	CAPTURE_LINE2, /* likewise, the third */
	CAPTURE_RETURN_TEXT0, /* the length of the text that was given first; -errno */
	CAPTURE_RESULT_INT,
	CAPTURE_RESULT_FILE,
	CAPTURE_RETURN_INT,  /* -1 becomes -errno */
	CAPTURE_RETURN_LONG, /* likewise */
	CAPTURE_POINTED0,    /* what the first argument points to, where the result is 0 */
};

enum hook_way {
	HOOK_REGISTERS, /* all arguments are in registers */
	HOOK_CHOSEN,    /* the same; a C function of ours says before whether it is to be seen */
	HOOK_ANY,       /* nothing is known of them */
	HOOK_WIDE,      /* the same, with large structures among them */
	HOOK_ENTERED,   /* like any; found by hook_current() while it lasts */
	HOOK_AROUND,    /* like any; C functions of ours see it before and after */
	HOOK_WRAPPER,   /* a C function of ours takes the call */
	HOOK_NOTICE,    /* hook_on_notice is told, with what is in registers; nothing is written */
};

/* The stack frame of a call on its way through us; laid out by thunk.S. */
struct hook_frame {
	uint64_t arguments[8];
	uint64_t indirect;
	struct hook *hook;
	uint64_t in_flight; /* its own address, as in struct call_in_flight */
	uint64_t begin;
	uint64_t results[2];
	union {
		const struct hook_frame
			*outer;  /* the call that this one is in, when both are entered */
		uint64_t choice; /* what traced_choose said, when it is chosen */
	};
	uint64_t wrapped_sp; /* the caller's stack pointer, in the frame that a wrapper makes */
	uint64_t link;       /* the caller's frame pointer */
	uint64_t address;    /* where we return to */
};

/* The same of a call that is seen before and after, with room for what the one tells the other. */
struct hook_around {
	uint64_t kept[AROUND_BYTES / sizeof(uint64_t)]; /* zero when nothing was seen before */
	struct hook_frame frame;
};

/* Before the original of a call that may be chosen, as its wrapper; has no time yet, and changes
 * nothing.  0: it goes its way as if we were not there; else write is told the number. */
typedef uint64_t traced_choose(const struct hook_frame *frame);

/* Before the original, while the hook is on: may change arguments (hook_set_argument). */
typedef void traced_before(struct hook_around *around, uint64_t *window);
/* When it has returned, also when the hook is off by then: may change results. */
typedef void traced_after(struct hook_around *around, uint64_t end);

/* A hook for a function is about to be switched on; on a thread of ours, once a session.  For what
 * the domain has to find out about the function. */
typedef void traced_prepare(struct hook *hook, const struct function_name *name);

/* Writes what is to be written about a call that has returned. */
typedef void traced_write(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end);

/* A function that a domain wants to see. */
struct traced {
	const char *symbol; /* as it is imported; NULL: any that the domain's patterns match */
	const char *name;   /* as it is shown; NULL: like the symbol */
	enum trace_domain domain;
	enum hook_way way;
	traced_write *write; /* NULL: the call and its values */
	void *wrapper;       /* of HOOK_WRAPPER; of HOOK_CHOSEN its traced_choose */
	uint8_t value_count;
	struct {
		uint8_t kind;   /* enum value_kind */
		uint8_t source; /* enum capture */
	} values[RECORD_VALUES_MAX];
	traced_before *before; /* of HOOK_AROUND; either may be NULL */
	traced_after *after;
	traced_prepare *prepare; /* may be NULL */
	const void *entry;       /* code before the thunk of its way; NULL: none */
	bool is_only_called; /* programs compare its address with NULL only: any word may be hooked
			      */
	const char *but_in;  /* libraries whose function of this name only calls others that are
				    hooked, too; a pattern, NULL: none */
};

struct hook {
	uint64_t original;
	const void *entry;
	void *wrapper;
	const struct traced *traced;
	uint32_t function; /* its index in this session's list */
	uint32_t session;
	uint32_t is_on;
	uint32_t is_of_table; /* called through a table, not an import */
	uint32_t is_muted;    /* what it leads to is hooked further on */
	uint32_t mark;        /* its domain's own, see traced_prepare */
	uint64_t label;       /* of its name and its library */
} __attribute__((aligned(HOOK_SIZE)));

_Static_assert(sizeof(struct hook) == HOOK_SIZE, "the stubs count on it");
_Static_assert(offsetof(struct hook, wrapper) == HOOK_AT_WRAPPER, "thunk.S reads it");
_Static_assert(offsetof(struct hook, is_on) == HOOK_AT_IS_ON, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct hook, mark) == HOOK_AT_MARK, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct hook_frame, in_flight) == FRAME_IN_FLIGHT, "thunk.S writes it");
_Static_assert(FRAME_IN_FLIGHT - FRAME_HOOK == sizeof(uint64_t), "limpet looks for the pair");
_Static_assert(offsetof(struct hook_frame, results) == FRAME_RESULTS, "thunk.S writes it");
_Static_assert(offsetof(struct hook_frame, choice) == FRAME_CHOICE, "thunk.S writes it");
_Static_assert(sizeof(struct hook_frame) == FRAME_SIZE, "thunk.S makes it");
_Static_assert(offsetof(struct hook_around, frame) == AROUND_BYTES, "thunk.S makes it");

/* An argument as the program gave it, by its position; structures count as the words that they
 * take.
 */
static inline uint64_t hook_argument(const struct hook_frame *frame, unsigned index)
{
	const uint64_t *stack = (const uint64_t *)(frame + 1);

	return index < ARGUMENT_REGISTERS ? frame->arguments[index]
					  : stack[index - ARGUMENT_REGISTERS];
}

/* What the original finds there instead.  The program's own copy stays as it is, but for arguments
 * in registers: they are told from then on. */
static inline void hook_set_argument(struct hook_around *around, uint64_t *window, unsigned index,
				     uint64_t value)
{
	if (index < ARGUMENT_REGISTERS)
		around->frame.arguments[index] = value;
	else
		window[index - ARGUMENT_REGISTERS] = value;
}

/* The caller's stack pointer, once the call has returned. */
static inline uint64_t hook_caller_sp(const struct hook_frame *frame)
{
	return frame->hook->traced->way == HOOK_WRAPPER ? frame->wrapped_sp : (uint64_t)(frame + 1);
}

/* A function as the program knows it. */
struct function_name {
	const char *name, *library;
};

/* The hook for this function, made when there is none; NULL when there are too many.  Another
 * library may have come to where one was: the same address under another name is another function.
 */
struct hook *hook_get(uint64_t original, const struct traced *traced,
		      const struct function_name *name);

/* What a hooked word holds. */
uint64_t hook_stub(const struct hook *hook);
/* Does a word hold the address of a stub of ours? */
bool hook_is_stub(uint64_t value);

/* Names the hook's function to the host, once a session, and switches it on; false when the list is
 * full. */
bool hook_announce(struct hook *hook, const struct function_name *name);

/* No call is written down any more. */
void hooks_off(void);

/* Names a function that is not hooked to the host: its number, UINT32_MAX when the list is full. */
uint32_t function_announce(const struct traced *traced, const struct function_name *name);

/* Imports of this domain that lead into this code are written down further on: from now on not
 * here any more. */
void hooks_mute(enum trace_domain domain, uint64_t code, uint64_t size);

/* The innermost entered call that the calling thread is in; NULL: none, or not known. */
const struct hook_frame *hook_current(void);

/* What a write function does first: the call, its values, and who made it.  False: it was dropped.
 */
bool hook_write_call(struct writer *writer, const struct hook *hook, const struct hook_frame *frame,
		     uint64_t end);

/* The traced call that handed its own caller on to this one by a jump; NULL when there is none. */
const struct hook_frame *hook_outer(const struct hook_frame *frame);

/* Where the thunks lie that call what they are bound to: hook_outer() knows it by this. */
struct code {
	uint64_t begin, size;
};
struct code hook_thunks(void);

/* Called by thunk.S before the original, where it is HOOK_ENTERED. */
void hook_enter(struct hook_frame *frame);

/* Called by thunk.S when the original has returned. */
void hook_leave(struct hook_frame *frame);

/* Called by thunk.S around the original. */
void hook_before(struct hook_around *around, uint64_t *window);
void hook_after(struct hook_around *around);

/* Called by thunk.S before the original: on the program's thread, any time.  With the six first
 * words that travel in registers. */
typedef void notice_function(const struct traced *traced, const uint64_t *arguments);
void hook_notice(const struct hook *hook, const uint64_t *arguments);
extern notice_function *hook_on_notice;

/* Lies on the stack of a call that limpet's code has not returned from.  `self` holds its own
 * address until then.  Before limpet unmaps the tracer it searches stacks for the pair
 * (host/session/tracer_unload.c): a suspended coroutine's frame may lie below the thread's stack
 * pointer, where return addresses of finished calls lie, too. */
struct call_in_flight {
	const struct hook *hook;
	volatile uint64_t self;
};

static inline void call_in_flight_begin(struct call_in_flight *self, const struct hook *hook)
{
	self->hook = hook;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->self = (uint64_t)&self->self;
}

static inline void call_in_flight_end(struct call_in_flight *self)
{
	self->self = 0;
}

/* For wrappers, which call the original themselves. */
void hook_report(struct hook *hook, const struct hook_frame *frame);
