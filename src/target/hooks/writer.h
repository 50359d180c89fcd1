/*
 * Gives the calling thread a ring, and writes its records. Nothing here waits, locks, allocates or
 * makes a system call; errno is kept.
 */
#pragma once

#include "shared/wire/ring.h"
#include "target/hooks/clock.h"

struct hook_frame;

/* Beside each ring, in memory of the target. */
struct writer {
	struct ring_writer ring;
	uint64_t busy;   /* address of the seal of the write in progress; 0: none */
	uint64_t strays; /* calls that found it busy since */
	/* For domains/cpu/alloc_samples.c, also changed while another call is writing: */
	int64_t sample_left;     /* bytes until the next sample */
	uint64_t random;         /* 0: not begun */
	uint64_t handing_on;     /* marks a counted call that may tail-call another one; 0: none */
	struct clock_rate clock; /* used for reports of device work, see clock_recent() */
	/* The session's, mapped while the writer is busy. writers_rings() may return a later
	 * session's, which nothing keeps mapped. */
	const struct rings *rings;
} __attribute__((aligned(64)));

/* On the stack of a writing call, until it ends: distinguishes it from one left by longjmp. */
typedef volatile uint64_t writer_seal;

/* True if the thread with that ID is limpet's. NULL: none is. */
typedef bool writer_is_own(int32_t tid);

/* Begins a session. -ENOMEM; -ENOTSUP if a forked child could not be recognized; -EBUSY if threads
 * are still in the rings of eight earlier sessions. */
int writers_open(struct rings *rings, writer_is_own *is_own) MUST_CHECK;

/* Ends it; true: no thread is in the rings, now or later. */
bool writers_close(void);

/* Checks the rings of unclosed sessions again; clears is_held once no thread is in them. */
void writers_settle(void);

/* Unmaps the memory of all sessions: no application thread may run a hook any more. */
void writers_free(void);

/* In a forked child: the session was the parent's. */
void writers_forget(void);

/* The session's rings, or NULL; and its number. */
struct rings *writers_rings(void);
uint32_t writers_session(void);

/* Marks the calling thread as limpet's: its calls are not recorded. */
void writer_ignore_me(void);

/* Between these, a thread of limpet's writes records of device work; otherwise its calls are not
 * recorded. False: the calling thread is not limpet's. A pass is for one thread at a time. */
struct writer_pass {
	struct writer *writer;
	uint32_t session;
	int32_t thread;
};
bool writer_admit(struct writer_pass *pass);
void writer_dismiss(struct writer_pass *pass);

/* Begins to write; NULL: nothing is recorded, or it was dropped. Every begin needs an end. */
struct writer *writer_begin(writer_seal *seal);
void writer_end(struct writer *writer, writer_seal *seal);

/* Counts a record as lost because the counter may not be read. Makes no system call, because the
 * thread may be in strict seccomp mode. */
void writer_count_lost(void);

/* Says a note about the session, from any thread. */
void writer_note(unsigned note);

/* True during a session, but not in a forked child. */
bool writers_are_on(void);

/* The calling thread's writer, to keep state in; NULL if there is no session, or no ring for it. */
struct writer *writer_mine(void);
/* Like writer_mine(), for frequent callers: NULL if it would have to be claimed. */
struct writer *writer_known(void);

/* Where writer_known() reads, for assembly code: constant once there was a session. */
struct writer_path {
	const uint32_t *session; /* of the current session, 0: none */
	int64_t self;            /* offset of the thread's state from the thread pointer */
};
struct writer_path writer_path(void);

/* Between begin and end: writes a call and its values; later records belong to it. False:
 * dropped. */
bool writer_call(struct writer *writer, const struct record_call *call, const uint64_t *values);
/* Likewise, with its return address while half of the ring is free: under more load than the host
 * can read, calls are worth more than their callers. */
bool writer_call_from(struct writer *writer, const struct record_call *call, const uint64_t *values,
		      uint64_t caller);
void writer_text(struct writer *writer, const char *text, size_t size);
void writer_stack(struct writer *writer, const uint64_t *frames, unsigned count);
/* At most RECORD_PYTHON_FRAMES_MAX frames, before the native stack's record. */
void writer_python(struct writer *writer, const struct interpreted_frame *frames, unsigned count,
		   bool is_cut);
/* Copies that many bytes of stack, at most STACK_COPY_MAX, of a caller with these registers. False:
 * the ring has room only for smaller records. */
bool writer_stack_copy(struct writer *writer, const struct record_stack_part *caller);
/* How many callers a call's record has, by domain, unless the domain writes them itself. */
enum callers_extent {
	CALLERS_NONE,
	CALLERS_DIRECT, /* the return address */
	CALLERS_LINKED, /* by frame pointers */
	CALLERS_COPIED, /* by a copy of the stack, else by frame pointers */
	CALLERS_ALL,    /* likewise, with Python frames */
};
/* For the session that begins; on limpet's thread. */
void writer_callers_use(enum trace_domain domain, enum callers_extent extent);
/* Where a call was made: the frame record (the caller's frame pointer, the return address), and the
 * caller's stack pointer after the call. */
struct call_site {
	const uint64_t *record;
	uint64_t sp;
};
/* Writes a call with its domain's extent of callers. False: dropped. */
bool writer_call_at(struct writer *writer, const struct record_call *call, const uint64_t *values,
		    enum trace_domain domain, const struct call_site *site);
bool writer_call_in(struct writer *writer, const struct record_call *call, const uint64_t *values,
		    const struct hook_frame *frame);
/* Writes the callers of the call written last. */
void writer_callers(struct writer *writer, const struct hook_frame *frame,
		    enum callers_extent extent);
/* At most RECORD_COUNTS_MAX; may be repeated. */
void writer_counts(struct writer *writer, const struct record_count *counts, unsigned count);

/* True if there is room for that many bytes: for threads that may wait for it. */
bool writer_has_room(const struct writer *writer, size_t size);

/* Names a number in later values, by up to NAME_BYTES_MAX bytes. False: dropped, call it again. */
#define NAME_BYTES_MAX 65536u
bool writer_name(struct writer *writer, enum name_space space, uint64_t id, const char *text,
		 size_t length);
