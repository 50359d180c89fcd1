/*
 * The stacks of calls (record --launch-stacks), and the work that those calls caused: kernels by
 * the line of the program that launched them.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/rows.h"
#include "host/model/model.h"

/* A frame: a line of NAME_CALL_STACK. */
struct stack_line {
	char function[256], file[256];
	unsigned line;
};

/* Lines of Python that a call was made from, innermost first; "": none is known. */
const char *call_stack_lines(const struct call *call);
/* The next one; false when there is none. */
bool stack_line_next(const char **lines, struct stack_line *ret);
/* "step (/home/me/train.py:30)". */
void stack_line_print(const struct stack_line *line, char *ret, size_t room);
/* All of them on one line, innermost first, with ';' between them. */
void stack_lines_print(const char *lines, char *ret, size_t room);

/* Calls of late, by their correlation; starts as zeros.  Of more than a million only the later ones
 * are known. */
struct launches {
	struct table recent, before; /* (process, correlation): lines of the call's stack */
	bool has_stacks;
	/* Of calls of a runtime, which have native frames and contain those of the driver: */
	struct table runtimes; /* thread: end and lines of its last one */
	struct table native;   /* (stack, its end): lines */
	struct pool texts;
};
/* Any call, in the order of their beginnings.  -ENOMEM. */
int launches_add(struct launches *launches, const struct call *call) MUST_CHECK;
/* Lines of the stack that some work was launched from; "": none is known. */
const char *launches_find(const struct launches *launches, const struct call *work);
void launches_done(struct launches *launches);

/* Kernels of one name from one line. */
struct launch_row {
	const struct model_process *process;
	char *kernel, *place; /* place: "step (train.py:30)", "" where no stack is known */
	uint64_t count, total_ns;
};

/* Starts as zeros. */
struct launch_summary {
	struct launches launches;
	struct launch_row *rows;
	uint32_t count;
	struct row_index by_names; /* (process, hash of both) */
};
int launch_summary_add(struct launch_summary *summary, const struct call *call) MUST_CHECK;
/* The longest first; where no call has a stack there are no rows. */
void launch_summary_sort(struct launch_summary *summary);
void launch_summary_done(struct launch_summary *summary);
