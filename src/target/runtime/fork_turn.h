/*
 * Keeps forks of the application and short pieces of our work apart, in turns: a child of fork must
 * not be born in the middle of such a piece.  Both sides wait, a bounded time only: a fork is never
 * held up for long, and one that never ends does not hold us up.  No libc.
 */
#pragma once

#include <stdint.h>

struct fork_turn {
	uint32_t forking, working; /* how many at this moment */
	int32_t worker;            /* the process whose threads work */
};

/* Once, when the handlers have just been registered: a fork that was under way then has not called
 * them, and is waited for. */
void fork_turn_settle(void);

void fork_turn_work_begin(struct fork_turn *self);
void fork_turn_work_end(struct fork_turn *self);

/* For the handlers of pthread_atfork: two before, one in the parent, one in the child. */
void fork_turn_fork_begin(struct fork_turn *self);
void fork_turn_await(const struct fork_turn *self);
void fork_turn_fork_end(struct fork_turn *self);
void fork_turn_forget(struct fork_turn *self);
