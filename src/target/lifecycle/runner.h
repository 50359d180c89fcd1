/*
 * Runs a foreign function on a thread of its own, with a time limit. A tool that never returns then
 * costs a thread, not the control of the process.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

#define RUNNER_THREAD_NAME "limpet-tool"
#define RUNNER_ARGUMENT    704

/* A thread's descriptor table, if the control thread has its own. Drivers and tools keep open
 * descriptors for application threads; limpet's own are better kept out of the target's table. */
enum runner_table {
	TABLE_OF_PROGRAM,
	TABLE_OF_CALLER,
};

/*
 * Calls work(argument) with a copy of `argument`, which is copied back. 0; -ETIMEDOUT if it did not
 * return in time: it continues, and calls late(argument) when it returns. Negative errno if no
 * thread could be created.
 */
int runner_call(const struct boot_libc *libc, void (*work)(void *argument),
		void (*late)(void *argument), void *argument, size_t size, enum runner_table table,
		uint32_t timeout_ms) MUST_CHECK;

/* Frees the memory of timed-out calls that have returned; returns how many have not. As long as
 * there is one, this library must stay: the call returns into it. */
unsigned runner_collect(const struct boot_libc *libc);

/* True if the thread with that ID was created here, and has not ended. */
bool runner_is_thread(int32_t tid);

/* The process is ending: running calls time out soon, whatever their limit. */
void runner_hurry(void);

/* Sets a function that the control thread polls during a call: true ends the wait. NULL: none. */
void runner_mind(bool (*question)(void));

/* The control thread has a table of its own; a starter creates threads with the target's. NULL:
 * no. */
void runner_employ(struct boot_context *boot);

/* True on that control thread. */
bool runner_is_apart(void);

/* In a forked child: those threads do not exist. */
void runner_adopt(void);
