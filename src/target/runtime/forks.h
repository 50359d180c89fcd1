/*
 * This copy of ours and the program's forks.  A child of fork finds every lock of libc's and of the
 * loader's as it was in that moment, and nobody who gives it back; so calls that take one are made
 * in turn with forks (fork_turn.h).  Each copy - agent, tracer, register library - has a turn:
 * its own, with handlers that stay registered as long as it is there, which is for ever; that of
 * the bootstrap code, which takes its handlers away before everything goes; the tracer that of the
 * agent.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/fork_turn.h"

typedef int forks_add_function(void (*before)(void), void (*in_parent)(void),
			       void (*in_child)(void));

/* The first who comes decides; NULL: none of them. */
void forks_share(struct fork_turn *turn);
void forks_watch(forks_add_function *add, const char *glibc_version, bool is_alone);
struct fork_turn *forks_turn(void); /* NULL: none */

/* The turn of somebody else is about to go, and this copy with it. */
void forks_part(void);

/* May the program's threads make system calls of ours?  See fork_turn.h. */
void forks_allow_calls(bool may_call);

/* Around a call; short. */
struct fork_work forks_hold(void);
void forks_release(struct fork_work work);

/* As those of fork_turn.h. */
void forks_pass(struct fork_work work);
void forks_hold_firmly(bool is_held);

/* Each child of fork calls it, where it is set.  Async-signal-safe, as the child of a threaded
 * program must be. */
extern void (*forks_in_child)(void);
