/*
 * Keeps the target's forks apart from short pieces of limpet's work: a fork in the middle of such a
 * piece would copy a locked lock to the child. Both sides wait, up to a time limit. A worker first
 * announces itself and then waits for forks in progress; later forks wait for it. So neither many
 * forks nor much work keeps the other side out. No libc.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FORK_WORKERS 16

/* All zero: no handlers, no forks, no work. */
struct fork_turn {
	uint32_t forking; /* forks in progress */
	uint32_t waiting; /* forks that wait for workers */
	uint32_t holding; /* pieces of work that certainly hold a lock */
	/* True if application threads may make the system calls for waiting. Otherwise a filter of
	 * their own might kill them, and they spin. */
	uint32_t may_call;
	uint32_t is_locked;    /* before glibc 2.36: handlers run under the lock of all handlers */
	uint32_t is_unsettled; /* a fork that has not called the handlers may be in progress */
	int32_t process;       /* the workers' process */
	uint64_t opened_ns;    /* when the handlers were registered */
	int32_t workers[FORK_WORKERS]; /* thread IDs; negative: forks no longer wait for it */
};

/* One piece of work, as its beginner's token. */
struct fork_work {
	int32_t thread, slot;
};

/* Called once, right after the handlers were registered: a fork already in progress has not called
 * these, and the first piece of work waits for it, unless this is the only thread. `version` is
 * glibc's, "2.36"; NULL: unknown. */
void fork_turn_open(struct fork_turn *self, const char *version, bool is_alone);

/* A nested piece of work is part of the outer one. */
struct fork_work fork_turn_begin(struct fork_turn *self);
void fork_turn_end(struct fork_turn *self, struct fork_work work);

/* The worker is about to wait for the lock of all handlers, which waiting forks hold if
 * `is_locked`: lets these continue, and waits until no fork is in progress. */
void fork_turn_pass(struct fork_turn *self, struct fork_work work);

/* Around code that certainly holds a lock, inside a piece of work: forks wait longer for it. */
void fork_turn_hold(struct fork_turn *self);
void fork_turn_release(struct fork_turn *self);

/* True if no piece of work is in progress. */
bool fork_turn_is_idle(const struct fork_turn *self);

/* For the handlers of pthread_atfork: before, in the parent, in the child. */
void fork_turn_fork_begin(struct fork_turn *self);
void fork_turn_fork_end(struct fork_turn *self);
void fork_turn_forget(struct fork_turn *self);
