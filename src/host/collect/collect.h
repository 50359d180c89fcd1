/*
 * From the rings of one process into a recording.  The rings are shared with the target: every byte
 * is copied once, then checked.
 *
 *   collector_new, collector_start, ..., (hooks are out), collector_stop, collector_finish,
 *   collector_totals, collector_free
 *
 * One owner calls; collector_totals and collector_check may be called while the thread runs.
 */
#pragma once

#include "host/collect/readings.h"
#include "host/recording/recording.h"
#include "shared/wire/ring.h"

/* The address of a thread's Python state, and its contents. */
struct python_place {
	const struct kernel_python *layout;
	uint64_t state, identity;
};

/* Reads the target's Python.  Called on the collector's thread. */
struct collect_stacks {
	/* False: the thread, by its number in the target, runs none. */
	bool (*find)(void *context, int32_t tid, struct python_place *ret);
	/* Frames as lines of NAME_CALL_STACK; their length. */
	size_t (*text)(void *context, const struct interpreted_frame *frames, size_t count,
		       char *ret, size_t room);
	void *context;
};

/* The callers of a traced call, as its thread has written them. */
struct collect_stack {
	const uint64_t *frames; /* return addresses, innermost first */
	size_t frame_count;
	const struct record_stack_part *caller; /* or else a copy of its stack */
	const void *copy;
	size_t size; /* some of its end may be missing */
	const struct interpreted_frame *python;
	size_t python_count;
	bool is_python_cut;
};

/* Numbers the target's code.  Called on the collector's thread. */
struct collect_callers {
	/* The recording's number of a stack of return addresses, which replaces them in the
	 * file. */
	int (*number)(void *context, const struct collect_stack *stack,
		      struct record_stack_number *ret, struct err *err);
	/* The same of the direct caller alone. */
	int (*number_caller)(void *context, uint64_t address, struct record_stack_number *ret,
			     struct err *err);
	/* The same of a copy of the caller's stack. */
	int (*unwind)(void *context, const struct collect_stack *stack,
		      struct record_stack_number *ret, struct err *err);
	void *context;
};

struct collect_source {
	struct rings *rings; /* mapped, the caller's; outlives the collector */
	size_t size;
	uint32_t process; /* its number in the recording */
	/* Whether a thread (by its number in the target) still lives. */
	bool (*is_alive)(void *context, int32_t tid);
	/* Its present name, false when it has none any more; may be NULL. */
	bool (*thread_name)(void *context, int32_t tid, char name[16]);
	void *context;
	/* Handles readings of devices, on the collector's thread; NULL: they are skipped. */
	int (*take_reading)(void *context, const struct device_reading *reading, struct err *err);
	void *reading_context;
	struct collect_stacks stacks;   /* zeros: not known */
	struct collect_callers callers; /* zeros: addresses are written as they are */
};

struct collect_totals {
	uint64_t records;      /* read from the rings */
	uint64_t record_bytes; /* their size there */
	uint64_t invalid;      /* invalid ones */
	uint64_t drops[DROP_REASONS];
	uint64_t threads, functions;
};

struct collector;

/* -EPROTO when the head of the rings is not sound. */
int collector_new(struct recording *recording, const struct collect_source *source,
		  struct collector **ret, struct err *err) MUST_CHECK;

/* One pass over all rings, at most one ring's worth from each: returns the number of records read,
 * or -errno when the recording cannot be written. */
long collector_drain(struct collector *collector, struct err *err) MUST_CHECK;

/* A thread that drains with pauses of 1 to 10 ms, as needed. */
int collector_start(struct collector *collector, struct err *err) MUST_CHECK;
void collector_stop(struct collector *collector);

/* 0, or what ended the thread. */
int collector_check(struct collector *collector, struct err *err) MUST_CHECK;

/* After the target has stopped writing: drains the rings and writes everything. */
int collector_finish(struct collector *collector, struct err *err) MUST_CHECK;

void collector_totals(struct collector *collector, struct collect_totals *ret);

/* Stops the thread when it runs; writes nothing. */
void collector_free(struct collector *collector);
