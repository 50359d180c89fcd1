/*
 * Programs that the fleet starts: launchers, and queries for jobs.  Found by PATH; in a process
 * group of their own, so that Ctrl-C reaches limpet alone.  Their command lines are built word by
 * word.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/err.h"
#include "shared/base/macros.h"

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

/* Zero is empty. */
struct words {
	char **items; /* ends with NULL once there is one */
	size_t count, room;
	bool has_failed; /* no memory: it is incomplete */
};

void words_add(struct words *words, const char *format, ...) PRINTF_LIKE(2, 3);
/* NULL: has_failed. */
void words_add_text(struct words *words, const char *word);
/* Words with single blanks between them. */
void words_add_line(struct words *words, const char *line);
void words_done(struct words *words);
DEFINE_STRUCT_CLEANUP(words, words_done)

/* As one quoted word for a shell: the caller frees it; NULL: no memory. */
char *word_quote(const char *word);
