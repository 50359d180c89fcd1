/*
 * Where the calling thread writes its records.  Nothing here waits, locks, allocates or makes a
 * system call; errno is not touched.
 */
#pragma once

#include "shared/wire/ring.h"
#include "target/hooks/clock.h"

struct hook_frame;

/* Beside each ring, in memory of the target's own. */
struct writer {
	struct ring_writer ring;
	uint64_t busy;   /* the address of the seal of who is writing; 0: nobody */
	uint64_t strays; /* calls that found it busy since it was busy */
	/* Of domains/cpu/alloc_samples.c, also changed by who is not busy: */
	int64_t sample_left; /* bytes until the next one */
	uint64_t random;     /* 0: not begun */
	uint64_t handing_on; /* marks a counted call that may go on to another one; 0: none */
	/* Of calls that are entered: */
	const struct hook_frame *call; /* that its thread is in, see hook_current() */
	uint64_t call_mark;            /* of what must still stand in its frame */
	uint64_t asked_in, asked;      /* how often a runtime asked in the call that began then */
	struct clock_rate clock;       /* of its last reports of devices, see clock_recent() */
	/* The session's, mapped while the writer is busy.  Those of writers_rings() may be another
	 * session's by now, which nothing keeps mapped. */
	const struct rings *rings;
} __attribute__((aligned(64)));

/* On the stack of who writes, for as long as he does: by it he is told from one who has left his
 * call without an end. */
typedef volatile uint64_t writer_seal;

/* Is the thread of that number limpet's?  NULL: none is. */
typedef bool writer_is_own(int32_t tid);

/* Begins a session.  -ENOMEM, -ENOTSUP where a forked child could not be told from us, -EBUSY where
 * threads are still in the rings of eight others. */
int writers_open(struct rings *rings, writer_is_own *is_own) MUST_CHECK;

/* Ends it: when true, no thread is in the rings or will ever be again. */
bool writers_close(void);

/* Looks again at the rings of sessions that could not be closed so; those which nobody is in any
 * more are not held (is_held) from then on. */
void writers_settle(void);

/* Unmaps what was made for all sessions: no thread of the program's may come here any more. */
void writers_free(void);

/* In a forked child: the session was our parent's. */
void writers_forget(void);

/* The rings of the session, NULL when there is none, and its number. */
struct rings *writers_rings(void);
uint32_t writers_session(void);

/* The calling thread is ours: nothing that it does is to be seen. */
void writer_ignore_me(void);

/* A thread of ours writes what devices did, between both; what it does is not seen before and
 * after. False: the calling thread is none of ours.  Never two threads at once with one pass. */
struct writer_pass {
	struct writer *writer;
	uint32_t session;
	int32_t thread;
};
bool writer_admit(struct writer_pass *pass);
void writer_dismiss(struct writer_pass *pass);

/* Begins to write: NULL when nothing is to be written, or it had to be dropped.  What was begun
 * must be ended. */
struct writer *writer_begin(writer_seal *seal);
void writer_end(struct writer *writer, writer_seal *seal);

/* Counts a record that cannot be made, since the machine's counter may not be read.  For a thread
 * in strict confinement: makes no system call, whatever the thread is at. */
void writer_lose(void);

/* Tells the host about the session, from any thread. */
void writer_note(unsigned note);

/* Is there a session?  Not in a forked child of the one that has it. */
bool writers_are_on(void);

/* The calling thread's, to remember things in; NULL when nothing is on, or it has none. */
struct writer *writer_mine(void);
/* The same for who asks at each call, NULL also where it would have to be looked for. */
struct writer *writer_known(void);

/* Where writer_known() looks, for code that is no C: the same as long as the process lives.  There
 * must have been a session. */
struct writer_path {
	const uint32_t *session; /* that is on, 0: none */
	int64_t self;            /* what a thread has of its own, from its thread pointer */
};
struct writer_path writer_path(void);

/* Between both: a call and its values, and what belongs to it.  False: it was dropped. */
bool writer_call(struct writer *writer, const struct record_call *call, const uint64_t *values);
/* The same, and the address that it returns to, while half of the ring is free: under more load
 * than the host can read, calls count more than their callers. */
bool writer_call_from(struct writer *writer, const struct record_call *call, const uint64_t *values,
		      uint64_t caller);
void writer_text(struct writer *writer, const char *text, size_t size);
void writer_stack(struct writer *writer, const uint64_t *frames, unsigned count);
/* At most RECORD_PYTHON_FRAMES_MAX frames of the stack that follows. */
void writer_python(struct writer *writer, const struct kernel_python_frame *frames, unsigned count,
		   bool is_cut);
/* A copy of that much stack, at most STACK_COPY_MAX, of a caller with these registers.  False: the
 * ring has room for smaller records only. */
bool writer_stack_copy(struct writer *writer, const struct record_stack_part *caller);
/* How much of the callers is written with each call of a domain, unless the domain's own code does
 * that. */
enum callers_extent {
	CALLERS_NONE,
	CALLERS_DIRECT, /* the direct caller */
	CALLERS_LINKED, /* by frame pointers */
	CALLERS_COPIED, /* by a copy of the thread's stack, else by frame pointers */
	CALLERS_ALL,    /* the same, with frames of Python */
};
/* For the session that begins; on a thread of limpet's. */
void writer_callers_use(enum trace_domain domain, enum callers_extent extent);
/* Writes a call with its callers, as its domain wants them.  False: it was dropped. */
bool writer_call_in(struct writer *writer, const struct record_call *call, const uint64_t *values,
		    const struct hook_frame *frame);
/* The callers of a call that was written. */
void writer_callers(struct writer *writer, const struct hook_frame *frame,
		    enum callers_extent extent);
/* At most RECORD_COUNTS_MAX; several may follow each other. */
void writer_counts(struct writer *writer, const struct record_count *counts, unsigned count);

/* Is there room for so many bytes?  For who may wait for it. */
bool writer_has_room(const struct writer *writer, size_t size);

/* What a number in values to come is called, of any length up to NAME_BYTES_MAX; before the call.
 * False: it was dropped, say it again. */
#define NAME_BYTES_MAX 65536u
bool writer_name(struct writer *writer, enum name_space space, uint64_t id, const char *text,
		 size_t length);
