/*
 * Connects this copy of limpet's code with the target's forks. A child of fork gets every lock of
 * libc and of the loader as it was at the fork, without the thread that would release it; so calls
 * that acquire one are kept apart from forks (fork_turn.h). Each copy - agent, tracer, register
 * library - uses a turn: its own, with handlers that stay registered for ever, as does the copy; or
 * the bootstrap's, which unregisters its handlers before everything is unmapped; the tracer uses
 * the agent's.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/fork_turn.h"

typedef int forks_add_function(void (*before)(void), void (*in_parent)(void),
			       void (*in_child)(void));

/* The first call decides which turn is used; NULL: none. */
void forks_share(struct fork_turn *turn);
void forks_watch(forks_add_function *add, const char *glibc_version, bool is_alone);
struct fork_turn *forks_turn(void); /* NULL: none */

/* Stops using another copy's turn, which is about to be unmapped. */
void forks_part(void);

/* Sets whether application threads may make limpet's system calls, see fork_turn.h. */
void forks_allow_calls(bool may_call);

/* Around a short call. */
struct fork_work forks_hold(void);
void forks_release(struct fork_work work);

/* Like those of fork_turn.h. */
void forks_pass(struct fork_work work);
void forks_hold_firmly(bool is_held);

/* Called in each child of fork, if set. Async-signal-safe: the parent may be threaded. */
extern void (*forks_in_child)(void);
