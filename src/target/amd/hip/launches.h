/*
 * Commands that the runtime has asked about and not yet reported, and the calls that made them.
 *
 * Commands of one queue end in the order in which they were made. A command is identified by the
 * stream argument of its call, or by its thread for the default stream. The queue of a stream is
 * learned from a report that fits the questions of one stream only, and then kept: each stream has
 * a queue of its own, and all threads share that of the default stream. So a report belongs to the
 * oldest question of its queue that it fits: a copy by size and direction, a kernel by its name,
 * once the function's name is known.
 *
 * If several questions fit, none is named as the cause: one of them is dropped, and a question that
 * was answered may be left. The fitting sources are doubtful while they have questions, and with
 * them all that share a queue with others.
 */
#pragma once

#include "shared/wire/record.h"
#include "target/amd/tables/call.h"

#define EXTERNALS_MAX 4u

enum launch_kind {
	LAUNCH_KERNEL,
	LAUNCH_COPY,
	LAUNCH_KINDS,
};

struct launch {
	uint64_t cause; /* when the call began; 0: unknown */
	uint64_t asked; /* when it was asked, in ticks */
	uint64_t stream;
	uint64_t what;     /* a kernel's function, a copy's size; 0: unknown */
	uint8_t direction; /* of a copy */
	uint32_t grid[3];  /* work items */
	uint32_t group[3];
	uint64_t local_bytes;
	uint64_t to, from;
	int32_t thread;
	bool is_of_graph;
	/* What tools know about it: ids of its call (0: nothing, and the rest is undefined), its
	 * number, its kernel (0: not known yet), and external ids by context. */
	uint64_t internal, ancestor, dispatch, kernel;
	struct launch_external {
		uint32_t context, life;
		uint64_t value, user_data;
	} externals[EXTERNALS_MAX];
	uint32_t external_count;
};

/* Copies it; without what tools know, where they know nothing. */
static inline void launch_copy(struct launch *to, const struct launch *from)
{
	if (from->internal)
		*to = *from;
	else
		__builtin_memcpy(to, from, offsetof(struct launch, ancestor));
}

static inline void launch_clear(struct launch *launch)
{
	__builtin_memset(launch, 0, offsetof(struct launch, ancestor));
}

/* Describes the command from the arguments of the thread's current call; NULL: there is none. */
void launch_read(const struct call_frame *frame, struct launch *ret);

/* Returns 0, -ENOMEM or -EBUSY. */
int launches_open(void) MUST_CHECK;
void launches_close(void);

/* Adds a question; false if it could not be noted. */
bool launches_add(enum launch_kind kind, const struct launch *launch);

/* The contents of a report. */
struct launch_report {
	enum launch_kind kind;
	uint64_t queue;
	uint64_t latest;   /* latest time of its question, in ticks */
	uint64_t what;     /* number of a kernel's name, a copy's size */
	uint8_t direction; /* of a copy */
};

/* Removes the question that a report answers. False if that is uncertain: `ret` is then the most
 * likely one, of a graph where there are such; asked at 0: none. */
bool launches_match(const struct launch_report *report, struct launch *ret);

/*
 * A question or report that did not get the lock leaves a question too many or too few, and so does
 * a report without a fitting question. From then on each report might be matched with its
 * neighbour's question: no cause is certain until all is settled. That is possible whenever a
 * question is asked and all before it were reported: questions asked before `since` are useless
 * then, and are dropped in any case. `misses`: launches_misses() at that time.
 */
uint32_t launches_misses(void);
void launches_miss(void);
void launches_settle(uint64_t since, uint32_t misses);

/* The application launches a graph: reports may come without a question. */
void launches_expect_graph(const struct launch *launch);
/* The last launch of a graph, which answers no question; asked at 0: there was none. */
void launches_graph(struct launch *ret);

/* The device and queue that report the launch's stream, as in a report, plus 1; 0: not known yet.
 */
uint64_t launches_queue(const struct launch *launch);

/* The call that began then has failed; the stream was destroyed. */
void launches_cancel(uint64_t cause);
void launches_forget_stream(uint64_t stream);

/* Functions were unloaded: other functions may get their addresses. */
void launches_forget_functions(void);

/* Called first. */
void launch_shapes_prepare(void);

/* What a successful call has destroyed. */
enum launch_end {
	ENDS_NOTHING,
	ENDS_STREAM, /* the stream in its first argument */
	ENDS_FUNCTIONS,
};
enum launch_end launch_ends(const struct call_frame *frame);
