/*
 * Where the calling thread writes its records.  Nothing here waits, locks, allocates or makes a
 * system call; errno is not touched.
 */
#pragma once

#include "shared/wire/ring.h"

struct hook_frame;

/* Beside each ring, in memory of the target's own. */
struct writer {
	struct ring_writer ring;
	uint64_t busy;       /* the stack pointer of the thread that is writing; 0: nobody */
	int64_t sample_left; /* bytes until the next sample */
	const struct hook_frame *call; /* that its thread is in, see hook_current() */
	uint64_t asked_in, asked;      /* how often HIP asked in the call that began then */
};

/* Begins a session.  -ENOMEM, or -ENOTSUP where a forked child could not be told from us. */
int writers_open(struct rings *rings) MUST_CHECK;

/* Ends it: when true, no thread is in the rings or will ever be again. */
bool writers_close(void);

/* In a forked child: the session was our parent's. */
void writers_forget(void);

/* The rings of the session, NULL when there is none, and its number. */
struct rings *writers_rings(void);
uint32_t writers_session(void);

/* The calling thread is ours: nothing that it does is to be seen. */
void writer_ignore_me(void);

/* Begins to write: NULL when nothing is to be written, or it had to be dropped.  What was begun
 * must be ended. */
struct writer *writer_begin(void);
void writer_end(struct writer *writer);

/* Is there a session?  Not in a forked child of the one that has it. */
bool writers_are_on(void);

/* The calling thread's, to remember things in; NULL when nothing is on, or it has none. */
struct writer *writer_mine(void);

/* Between both: a call and its values, and what belongs to it.  False: it was dropped. */
bool writer_call(struct writer *writer, const struct record_call *call, const uint64_t *values);
void writer_text(struct writer *writer, const char *text, size_t size);
void writer_stack(struct writer *writer, const uint64_t *frames, unsigned count);

/* What a number in values to come is called, of any length up to NAME_BYTES_MAX; before the call.
 * False: it was dropped, say it again. */
#define NAME_BYTES_MAX 65536u
bool writer_name(struct writer *writer, enum name_space space, uint64_t id, const char *text,
		 size_t length);
