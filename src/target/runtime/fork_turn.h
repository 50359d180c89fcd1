/*
 * Keeps forks of the program and short pieces of our work apart, in turns: a child of fork must not
 * be born in the middle of such a piece.  Both sides wait, a limited time only, and by the clock.
 * Whoever works says so first and then waits for forks that are under way; forks that come later
 * wait for it.  So neither a storm of forks nor one of works keeps the other side out.  No libc.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FORK_WORKERS 16

/* All zero: no handlers, no forks, no work. */
struct fork_turn {
	uint32_t forking; /* forks that had their turn and are under way */
	uint32_t waiting; /* forks that wait for it */
	uint32_t holding; /* pieces of work that have a lock for certain, for a moment */
	/* Threads of the program's may make the system calls by which one waits.  Otherwise a
	 * filter of their own may kill for them, and they wait without. */
	uint32_t may_call;
	uint32_t is_locked;    /* before glibc 2.36: handlers run under the lock of all handlers */
	uint32_t is_unsettled; /* a fork may be under way that has not called the handlers */
	int32_t process;       /* whose threads work */
	uint64_t opened_ns;    /* when they were registered */
	int32_t workers[FORK_WORKERS]; /* their numbers; negative: no longer waited for */
};

/* One piece of work; for who began it. */
struct fork_work {
	int32_t thread, slot;
};

/* Once, when the handlers have just been registered: a fork that was under way then has not called
 * them, and the first piece of work waits for it, unless this is the only thread.  `version` is
 * glibc's, "2.36"; NULL: unknown. */
void fork_turn_open(struct fork_turn *self, const char *version, bool is_alone);

/* Inside a piece of work another one is part of the first. */
struct fork_work fork_turn_begin(struct fork_turn *self);
void fork_turn_end(struct fork_turn *self, struct fork_work work);

/* The worker is about to wait for the lock of all handlers, which forks that wait for it hold where
 * `is_locked`: there they must go on, and it goes when none is under way. */
void fork_turn_pass(struct fork_turn *self, struct fork_work work);

/* Around what certainly holds a lock, inside of a piece of work: forks wait longer for it. */
void fork_turn_hold(struct fork_turn *self);
void fork_turn_release(struct fork_turn *self);

/* Nobody works any more. */
bool fork_turn_is_idle(const struct fork_turn *self);

/* For the handlers of pthread_atfork: before, in the parent, in the child. */
void fork_turn_fork_begin(struct fork_turn *self);
void fork_turn_fork_end(struct fork_turn *self);
void fork_turn_forget(struct fork_turn *self);
