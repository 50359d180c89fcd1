/*
 * The bootstrap code's turn with the program's forks (target/runtime/fork_turn.h), which the agent
 * that it loads shares.  Handlers and state lie in the region, and go with it.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/fork_turn.h"

#include <stdbool.h>

/* At DATA_FORKS. */
struct boot_forks {
	struct fork_turn turn;  /* first: all that the agent knows of it */
	uint32_t is_known;      /* libc has the handlers */
	uint32_t inside, calls; /* threads in a handler; how often one was called */
};

_Static_assert(sizeof(struct boot_forks) <= DATA_THREAD - DATA_FORKS, "fits its part");

struct boot_forks *boot_forks(const struct boot_context *boot);

/* Forks know us from here on; once for a region. */
void boot_forks_meet(const struct boot_context *boot);

/* ...until here.  Inside of a piece of work. */
void boot_forks_leave(const struct boot_context *boot, struct fork_work work);

/* After that: true when no thread is in a handler, or can come to be in one. */
bool boot_forks_are_gone(const struct boot_context *boot);
