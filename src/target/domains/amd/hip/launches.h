/*
 * Commands that the runtime has asked about and not yet reported, and which call made each.
 *
 * Commands of one queue are done in the order in which they were made.  A command is known by the
 * stream that its call was given, or by its thread where that is the default stream.  Which queue a
 * stream has is learned from a report that fits the questions of one stream only, and then kept: a
 * stream has a queue of its own, all threads share that of the default stream.  So a report belongs
 * to the oldest question that is of its queue, and that it fits: a copy by its size and direction,
 * a kernel by its name, once it is known which name a function has.
 *
 * Where several would do, none is named: one of their questions is dropped, and which of them is
 * left though it was answered is not known.  Those that would have done are in doubt for as long as
 * they have questions, and with them all that share a queue with others.
 */
#pragma once

#include "target/hooks/hook.h"

enum launch_kind {
	LAUNCH_KERNEL,
	LAUNCH_COPY,
	LAUNCH_KINDS,
};

struct launch {
	uint64_t cause; /* when the call began; 0: not known */
	uint64_t asked; /* when, in ticks */
	uint64_t stream;
	uint64_t what;     /* of a kernel its function, of a copy its size; 0: not known */
	uint8_t direction; /* of a copy */
	uint32_t grid[3];  /* work items */
	uint32_t group[3];
	uint64_t local_bytes;
	uint64_t to, from;
	int32_t thread;
	bool is_of_graph;
};

/* What the call that the thread is in says about the command that it makes. */
void launch_read(const struct hook_frame *frame, struct launch *ret);

/* 0, -ENOMEM, -EBUSY. */
int launches_open(void) MUST_CHECK;
void launches_close(void);

/* A question; false when it could not be noted. */
bool launches_add(enum launch_kind kind, const struct launch *launch);

/* What a report tells. */
struct launch_report {
	enum launch_kind kind;
	uint64_t queue;
	uint64_t latest;   /* when it was asked for, in ticks */
	uint64_t what;     /* of a kernel the number of its name, of a copy its size */
	uint8_t direction; /* of a copy */
};

/* The question that a report answers; false when that is not sure. */
bool launches_take(const struct launch_report *report, struct launch *ret);

/*
 * A question or a report that could not get at the others leaves a question too many or too few,
 * and from then on each report might be taken for its neighbour's: no cause is sure any more until
 * all is settled.  So does a report that none of the questions fits.  That can be done whenever a
 * question comes and all before it were reported: those that were asked before `since` are of no
 * use then, and are dropped in any case.  `misses`: how many there were then.
 */
uint32_t launches_misses(void);
void launches_miss(void);
void launches_settle(uint64_t since, uint32_t misses);

/* The program runs graphs: reports may come without a question. */
void launches_expect_graphs(void);

/* The call that began then has failed; this stream is no more. */
void launches_cancel(uint64_t cause);
void launches_forget_stream(uint64_t stream);

/* Functions were unloaded: others may come to where they were. */
void launches_forget_functions(void);
