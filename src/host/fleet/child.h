/*
 * Programs that the fleet starts: launchers, and queries for jobs.  Found by PATH; in a process
 * group of their own, so that Ctrl-C reaches limpet alone.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Both ends of each; -1: closed, or not there. */
enum { CHILD_INPUT, CHILD_OUTPUT, CHILD_ERRORS, CHILD_FILE, CHILD_PIPES };
struct child_pipes {
	int ends[CHILD_PIPES][2];
};

/* The first `count` of them.  0 or -errno. */
int child_pipes_open(struct child_pipes *ret, unsigned count) MUST_CHECK;
void child_pipes_close(struct child_pipes *pipes);

/* limpet's ends of its pipes; -1: closed. */
struct child {
	pid_t pid; /* 0: none, or reaped */
	int input, output, errors;
	uint64_t asked_ns; /* when SIGTERM was sent; 0: it was not */
};

#define CHILD_NONE ((struct child){ .input = -1, .output = -1, .errors = -1 })

/* -ENOENT: the program is not found. */
int child_start(struct child *ret, const char *const *argv, struct err *err) MUST_CHECK;
void child_close_input(struct child *child);
/* True when it has ended; its status as from waitpid(). */
bool child_has_ended(struct child *child, int *ret_status);
/* Closes the pipes, and sends SIGTERM. */
void child_ask_to_end(struct child *child);
/* The same, and SIGKILL a second later; a child that may not be killed is left after another
 * second. */
void child_end(struct child *child);

/* "exit code 3", "signal 9". */
const char *child_describe(int status, char *buffer, size_t capacity);

/* Runs a program to its end and returns its output.  The caller frees *ret, which is terminated.
 * Fails when the program fails, prints more than bytes_max, or takes longer than the limit. */
int child_capture(const char *const *argv, size_t bytes_max, uint64_t limit_ns, char **ret,
		  struct err *err) MUST_CHECK;
