/*
 * The bootstrap's turn with the target's forks (target/runtime/fork_turn.h), shared with the agent
 * that it loads. Handlers and state lie in the region, and are unmapped with it.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/fork_turn.h"

#include <stdbool.h>

/* At DATA_FORKS. */
struct boot_forks {
	struct fork_turn turn;  /* first: the agent knows only this */
	uint32_t is_known;      /* libc has the handlers */
	uint32_t inside, calls; /* threads in a handler; whether one ever ran */
};

_Static_assert(sizeof(struct boot_forks) <= DATA_THREAD - DATA_FORKS, "fits its part");

struct boot_forks *boot_forks(const struct boot_context *boot);

/* Registers the handlers, once for a region. */
void boot_forks_meet(const struct boot_context *boot);

/* Unregisters the handlers. Inside a piece of work. */
void boot_forks_leave(const struct boot_context *boot, struct fork_work work);

/* After that: true when no thread is in a handler, or can enter one. */
bool boot_forks_are_gone(const struct boot_context *boot);
