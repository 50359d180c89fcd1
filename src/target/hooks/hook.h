/*
 * A hook: the function that an entry led to before it was patched, and what to record about its
 * calls. A hook is never reused for another function: the application may have stored the stub's
 * address (it took the function's address while it was hooked), and call it long after detach.
 */
#pragma once

#include "shared/arch/thunk.h"
#include "shared/wire/record.h"

#include <stdbool.h>

struct hook;
struct function_name;
struct writer;

/* Sources of a record's values, read after the call has returned. */
enum capture {
	CAPTURE_ARG0, /* the first six arguments, as passed */
	CAPTURE_ARG1,
	CAPTURE_ARG2,
	CAPTURE_ARG3,
	CAPTURE_ARG4,
	CAPTURE_ARG5,
	CAPTURE_INT0, /* 32-bit arguments */
	CAPTURE_INT4,
	CAPTURE_FILE0, /* the file descriptor of a FILE * */
	CAPTURE_FILE1,
	CAPTURE_FILE2,
	CAPTURE_FILE3,
	CAPTURE_FILE4,
	CAPTURE_PRODUCT01, /* product of two arguments */
	CAPTURE_PRODUCT12,
	CAPTURE_PRODUCT23,
	CAPTURE_RESULT,
	CAPTURE_RESULT_TIMES1, /* times an argument: items to bytes */
	CAPTURE_RESULT_TIMES2,
	CAPTURE_LINE1, /* length of the line in the buffer of argument 0, at most argument 1; 0 if
			  the result is NULL */
	CAPTURE_LINE2, /* likewise, at most argument 2 */
	CAPTURE_RETURN_TEXT0, /* length of the text in argument 0; -errno */
	CAPTURE_RESULT_INT,
	CAPTURE_RESULT_FILE,
	CAPTURE_RETURN_INT,  /* -1 becomes -errno */
	CAPTURE_RETURN_LONG, /* likewise */
	CAPTURE_POINTED0,    /* *(argument 0) if the result is 0 */
};

enum hook_way {
	HOOK_REGISTERS, /* all arguments are in registers */
	HOOK_CHOSEN,    /* likewise; traced_choose decides before the call */
	HOOK_ANY,       /* arguments unknown */
	HOOK_WIDE,      /* likewise, with large structures among them */
	HOOK_AROUND,    /* like HOOK_ANY; C functions run before and after the call */
	HOOK_WRAPPER,   /* a C function replaces the call */
	HOOK_NOTICE,    /* calls hook_on_notice with the register arguments; no record */
};

/* The stack frame of a hooked call; laid out by thunk.S. */
struct hook_frame {
	uint64_t arguments[8];
	uint64_t indirect;
	struct hook *hook;
	uint64_t in_flight; /* its own address, as in struct call_in_flight */
	uint64_t begin;
	uint64_t results[2];
	uint64_t choice;     /* traced_choose's result, for HOOK_CHOSEN */
	uint64_t wrapped_sp; /* the caller's stack pointer, in a frame made by a wrapper */
	uint64_t link;       /* the caller's frame pointer */
	uint64_t address;    /* the return address */
};

/* The frame of a HOOK_AROUND call, with room for what `before` passes to `after`. */
struct hook_around {
	uint64_t kept[AROUND_BYTES / sizeof(uint64_t)]; /* zero if `before` did not run */
	struct hook_frame frame;
};

/* Runs before the original of a HOOK_CHOSEN call; has no time yet, and changes nothing. 0: the call
 * continues unrecorded; else `write` gets the number as frame->choice. */
typedef uint64_t traced_choose(const struct hook_frame *frame);

/* Runs before the original, while the hook is on: may change arguments (hook_set_argument). */
typedef void traced_before(struct hook_around *around, uint64_t *window);
/* Runs after the original, even if the hook was switched off meanwhile: may change results. */
typedef void traced_after(struct hook_around *around, uint64_t end);

/* Runs before a function's hook is switched on, on limpet's thread, once a session. */
typedef void traced_prepare(struct hook *hook, const struct function_name *name);

/* Writes the record of a call that has returned. */
typedef void traced_write(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end);

/* A function that a domain traces. */
struct traced {
	const char *symbol; /* imported symbol; NULL: any that matches the domain's patterns */
	const char *name;   /* displayed name; NULL: the symbol */
	enum trace_domain domain;
	enum hook_way way;
	traced_write *write; /* NULL: the call and its values */
	void *wrapper;       /* for HOOK_WRAPPER; for HOOK_CHOSEN its traced_choose */
	uint8_t value_count;
	struct {
		uint8_t kind;   /* enum value_kind */
		uint8_t source; /* enum capture */
	} values[RECORD_VALUES_MAX];
	traced_before *before; /* for HOOK_AROUND; either may be NULL */
	traced_after *after;
	traced_prepare *prepare; /* may be NULL */
	const void *entry;       /* code that runs before the thunk; NULL: none */
	bool is_only_called; /* any entry may be hooked: the address is only compared with NULL */
	const char *but_in;  /* pattern of libraries whose function of this name only calls other
				hooked functions; NULL: none */
};

struct hook {
	uint64_t original;
	const void *entry;
	void *wrapper;
	const struct traced *traced;
	uint32_t function; /* index in the session's list of functions */
	uint32_t session;
	uint32_t is_on;
	uint32_t is_of_table; /* called through a table, not an import */
	uint32_t is_muted;    /* its calls are hooked in a table */
	uint32_t mark;        /* used by its domain, see traced_prepare */
	uint64_t label;       /* hash of name and library */
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

/* An argument by its position, as passed; structures count as the words that they take. */
static inline uint64_t hook_argument(const struct hook_frame *frame, unsigned index)
{
	const uint64_t *stack = (const uint64_t *)(frame + 1);

	return index < ARGUMENT_REGISTERS ? frame->arguments[index]
					  : stack[index - ARGUMENT_REGISTERS];
}

/* Changes an argument for the original. Arguments on the stack keep the caller's copy; changed
 * register arguments are recorded. */
static inline void hook_set_argument(struct hook_around *around, uint64_t *window, unsigned index,
				     uint64_t value)
{
	if (index < ARGUMENT_REGISTERS)
		around->frame.arguments[index] = value;
	else
		window[index - ARGUMENT_REGISTERS] = value;
}

/* The caller's stack pointer after the call has returned. */
static inline uint64_t hook_caller_sp(const struct hook_frame *frame)
{
	return frame->hook->traced->way == HOOK_WRAPPER ? frame->wrapped_sp : (uint64_t)(frame + 1);
}

/* A function's displayed name and library. */
struct function_name {
	const char *name, *library;
};

/* Finds or makes the hook for this function; NULL if there are too many. The same address under
 * another name is another function, because another library may have been loaded there. */
struct hook *hook_get(uint64_t original, const struct traced *traced,
		      const struct function_name *name);

/* The value for hooked entries. */
uint64_t hook_stub(const struct hook *hook);
/* True if the value is a stub's address. */
bool hook_is_stub(uint64_t value);

/* Writes the function's name, once a session, and switches the hook on; false: the list is full. */
bool hook_announce(struct hook *hook, const struct function_name *name);

/* Stops recording calls. */
void hooks_off(void);

/* What came of hooking: imports, or entries of tables. */
struct hooks_report {
	uint32_t domains;    /* bits: domains with hooks */
	uint32_t hooked;     /* entries hooked by this scan */
	uint32_t unwritable; /* entries that could not be changed */
	uint32_t refused;    /* entries without room in limpet's tables */
	uint32_t left;       /* entries, in all modules, whose value the application also uses */
	char left_function[TRACE_NAME_MAX], left_module[TRACE_LIBRARY_MAX]; /* one of them */
	bool is_unsettled; /* a module is being loaded: scan again soon */
};

/* Writes the name of a function without a hook; returns its number, UINT32_MAX if there is no
 * room. */
uint32_t function_announce(const struct traced *traced, const struct function_name *name);

/* Switches hooks of imports off for this domain and code, which a table's hooks record. */
void hooks_mute(enum trace_domain domain, uint64_t code, uint64_t size);

/* Writes the call, its values and its caller; write functions call it first. False: dropped. */
bool hook_write_call(struct writer *writer, const struct hook *hook, const struct hook_frame *frame,
		     uint64_t end);

/* The hooked call that tail-called this one; NULL if there is none. */
const struct hook_frame *hook_outer(const struct hook_frame *frame);

/* The code of the thunks that call originals: hook_outer() compares return addresses with it. */
struct code {
	uint64_t begin, size;
};
struct code hook_thunks(void);

/* Called by thunk.S after the original has returned. */
void hook_leave(struct hook_frame *frame);

/* Called by thunk.S around the original of a HOOK_AROUND call. */
void hook_before(struct hook_around *around, uint64_t *window);
void hook_after(struct hook_around *around);

/* Called by thunk.S before the original, on any application thread, with the first six register
 * arguments. */
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
