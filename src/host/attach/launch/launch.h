/*
 * Starting a program so that it waits before its first instruction: its libraries are loaded and
 * initialised, nothing of its own has run.  Then limpet attaches to it like to any other process,
 * and lets it run.  It is a child of the caller, with the caller's descriptors, variables, folder
 * and process group; if the caller dies, it goes on by itself at once.
 */
#pragma once

#include "host/core/err.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int pidfd, memory;
	uint64_t doorstep; /* for attach_options */
	bool is_let_go;
	bool has_passed_by; /* it did not wait: one of its libraries has executed another program */
	bool has_ended;
	int status; /* as from waitpid, when it has ended */
};

/*
 * Starts the program, searched for in PATH, with this signal mask.  Returns at once when it runs;
 * on failure there is no process.  The caller must not reap children that it does not know.
 * takes_static: also one that no library can be loaded into.
 */
int launch_start(struct launch *ret, char *const argv[], const sigset_t *mask, bool takes_static,
		 struct err *err) MUST_CHECK;

/* 1: it waits before its first instruction, or has_passed_by; 0: not yet; -ESRCH: it has ended
 * before, with the reason in err. */
int launch_poll(struct launch *launch, struct err *err) MUST_CHECK;

/*
 * Called before any thread of the program allocates memory: makes the C library set up its
 * allocator on the program's thread.  The first thread to allocate gets the heap at the program's
 * end (brk), and that would be limpet's.
 */
int launch_prepare_allocator(struct launch *launch, struct err *err) MUST_CHECK;

/* Lets the program run. */
int launch_release(struct launch *launch, struct err *err) MUST_CHECK;

/* True when it has ended; status is set then.  waits: blocks until that. */
bool launch_has_ended(struct launch *launch, bool waits);

/* "exit status 3", "killed by signal 11 (Segmentation fault), core dumped" */
const char *launch_describe(const struct launch *launch, char *buffer, size_t room);

/* Kills a program that was not let go: nothing of its own has run.  Any other goes on. */
void launch_done(struct launch *launch);
