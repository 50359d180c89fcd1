/*
 * Programs that the fleet starts: launchers, and those that tell of jobs.  Found by PATH; in a
 * process group of their own, so that Ctrl-C reaches limpet alone.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Our ends of its pipes; -1: closed. */
struct child {
	pid_t pid; /* 0: none, or it was waited for */
	int input, output, errors;
	uint64_t asked_ns; /* when it was asked to end; 0: it was not */
};

#define CHILD_NONE ((struct child){ .input = -1, .output = -1, .errors = -1 })

/* -ENOENT: there is no such program; the error says so. */
int child_start(struct child *ret, const char *const *argv, struct err *err) MUST_CHECK;
void child_close_input(struct child *child);
/* True when it has ended; its status as of waitpid(). */
bool child_has_ended(struct child *child, int *ret_status);
/* Closes the pipes, and asks it to end by SIGTERM. */
void child_ask_to_end(struct child *child);
/* The same, and ends it by SIGKILL a second later; one that it may not end is left after another.
 */
void child_end(struct child *child);

/* "exit code 3", "signal 9". */
const char *child_describe(int status, char *buffer, size_t capacity);

/* What a program prints: runs it to its end.  *ret is the caller's to free, and terminated.  Fails
 * when it fails, prints more than that, or takes longer. */
int child_capture(const char *const *argv, size_t bytes_max, uint64_t limit_ns, char **ret,
		  struct err *err) MUST_CHECK;
