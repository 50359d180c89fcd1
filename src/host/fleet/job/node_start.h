/*
 * One running command of an engine, and the node parts that send through it: their lines become
 * messages.
 */
#pragma once

#include "host/fleet/channel/channel.h"
#include "host/fleet/child.h"

#include <stdbool.h>

#define START_LINE_MAX 2048u /* longer lines are not limpet's */
#define LAST_WORDS_MAX 320u
/* The limits of input from one node, and from all through one command. */
#define HEARD_MAX        ((uint64_t)64 << 20)
#define HEARD_OF_ALL_MAX ((uint64_t)1 << 30)

/* The state of one node part. */
struct spoken {
	uint32_t tag;
	uint32_t node; /* of the fleet; NODE_NONE before its greeting, or if it is refused */
	bool is_greeted;
	struct line_stream stream;
};

struct node_start {
	struct child child;
	uint32_t node; /* the only one allowed here; NODE_NONE: any */
	bool has_ended;
	int status; /* then, as from waitpid() */
	struct spoken *spoken;
	size_t spoken_count, spoken_room;
	uint64_t torn;        /* incomplete lines of limpet's */
	uint64_t heard_bytes; /* without pieces of recordings, and messages of fleet top */
	uint64_t piece_bytes, piece_max; /* piece_max 0: none are expected, and count as all else */
	/* Incomplete lines of its stdout and its stderr. */
	char line[START_LINE_MAX], error_line[START_LINE_MAX];
	size_t line_size, error_size;
	char last_words[LAST_WORDS_MAX]; /* the last line that was not limpet's */
	/* Written to its stdin: limpet itself on request, then the greeting. */
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

/* Starts it; resets the state of an earlier run. */
int node_start_run(struct node_start *start, const char *const *argv, struct err *err) MUST_CHECK;

/* Reads one of its two outputs. */
void node_start_read(struct node_start *start, bool is_error,
		     const struct start_listener *listener);
/* Writes to its stdin: the greeting, or the rest of the `size` bytes of limpet in `image`. */
void node_start_write(struct node_start *start, int image, uint64_t size);
/* Is there something to be written? */
bool node_start_has_input(const struct node_start *start, uint64_t size);

/* Has the command ended, with nothing left to read? */
bool node_start_look(struct node_start *start);
void node_start_done(struct node_start *start);
