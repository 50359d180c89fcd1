/*
 * One command of an engine while it runs, and the node parts that speak through it: their lines
 * become messages.
 */
#pragma once

#include "host/fleet/channel/line_stream.h"
#include "host/fleet/child.h"

#include <stdbool.h>

#define START_LINE_MAX 2048u /* longer ones are none of ours */
#define LAST_WORDS_MAX 320u
/* What is heard of one node, and of all that speak through one command. */
#define HEARD_MAX        ((uint64_t)64 << 20)
#define HEARD_OF_ALL_MAX ((uint64_t)1 << 30)

/* What one node part says. */
struct spoken {
	uint32_t tag;
	uint32_t node; /* of the fleet; NODE_NONE before its greeting, or where it is refused */
	bool is_greeted;
	struct line_stream stream;
};

struct node_start {
	struct child child;
	uint32_t node; /* the only one that may speak here; NODE_NONE: any */
	bool has_ended;
	int status; /* then, as of waitpid() */
	struct spoken *spoken;
	size_t spoken_count, spoken_room;
	uint64_t torn;        /* lines that began as one of ours */
	uint64_t heard_bytes; /* but for pieces of recordings, and what fleet top tells */
	uint64_t piece_bytes, piece_max; /* 0: none are wished for, and count as all else */
	/* Lines that are not whole yet, of its stdout and its stderr. */
	char line[START_LINE_MAX], error_line[START_LINE_MAX];
	size_t line_size, error_size;
	char last_words[LAST_WORDS_MAX]; /* the last line that was none of ours */
	/* Written to its stdin: limpet itself where it is wanted, then the greeting. */
	bool is_wanted, is_greeted;
	uint64_t sent_bytes;
	bool is_copied;
};

struct start_listener {
	/* A message of a node part; its first one is the greeting. */
	void (*message)(void *context, struct node_start *start, struct spoken *spoken);
	void (*ended)(void *context, struct node_start *start, struct spoken *spoken);
	void *context;
};

/* Starts it; what was left of an earlier one is forgotten. */
int node_start_run(struct node_start *start, const char *const *argv, struct err *err) MUST_CHECK;

/* Reads what has come, from which of its two outputs. */
void node_start_read(struct node_start *start, bool is_error,
		     const struct start_listener *listener);
/* Its stdin takes more: the greeting, or what is wanted of the `size` bytes of limpet in `image`.
 */
void node_start_write(struct node_start *start, int image, uint64_t size);
/* Is there something to be written? */
bool node_start_has_input(const struct node_start *start, uint64_t size);

/* Has the command come to its end, with nothing left to read? */
bool node_start_look(struct node_start *start);
void node_start_done(struct node_start *start);
