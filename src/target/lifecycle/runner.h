/*
 * Runs a foreign function on a thread of its own, for at most so long.  A tool that never returns
 * then costs a thread, not the control of the process.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

#define RUNNER_THREAD_NAME "limpet-tool"
#define RUNNER_ARGUMENT    704

/* Which descriptors a thread has, where the control thread has a table of its own.  Drivers and
 * tools keep what they open for threads of the program's; what is limpet's alone is in nobody's way
 * in its own table. */
enum runner_table {
	TABLE_OF_PROGRAM,
	TABLE_OF_CALLER,
};

/*
 * Calls work(argument) with a copy of `argument`, which is copied back.  0; -ETIMEDOUT when it did
 * not return in time: it goes on, and when it does return, late(argument) is called there.
 * Negative errno when no thread could be made.
 */
int runner_call(const struct boot_libc *libc, void (*work)(void *argument),
		void (*late)(void *argument), void *argument, size_t size, enum runner_table table,
		uint32_t timeout_ms) MUST_CHECK;

/* Frees what calls that came late have left; returns how many have not returned yet.  As long as
 * there is one, this library must stay: they return into it. */
unsigned runner_collect(const struct boot_libc *libc);

/* Is the thread of that number one of those that were made here, and not yet gone? */
bool runner_is_thread(int32_t tid);

/* The program is ending: calls that have not returned are given up soon, whatever their limit. */
void runner_hurry(void);

/* Asked by the control thread while it waits for a call: when true, it waits no more.  NULL: no
 * such question. */
void runner_mind(bool (*question)(void));

/* The control thread has a table of its own, and a starter who makes threads that have the
 * program's.  NULL: not any more. */
void runner_employ(struct boot_context *boot);

/* Is the caller that thread? */
bool runner_is_apart(void);

/* A forked child: those threads are not in it. */
void runner_adopt(void);
