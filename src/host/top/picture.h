/*
 * The content of a screen: made from the live store, drawn by render.h, printed by cli/top/text.h.
 * Names are those of the store's view, which the picture holds.
 */
#pragma once

#include "host/live/source.h"
#include "host/model/samples/call_tree.h"
#include "host/model/samples/neighbours.h"
#include "host/process/threads.h"

struct live;
struct live_view;

struct picture_function {
	const char *name, *module;
	bool is_named; /* else the name is a location: "libfoo.so+0x1234" */
	uint64_t self_ns, total_ns, self_count;
};

struct picture_thread {
	pid_t tid;
	char name[128]; /* with the additions of its Python */
	char state;     /* as in /proc; 0: it has ended */
	double percent; /* of a processor, since the last poll; < 0: not known yet */
	uint64_t samples, weight_ns;
};

/* One function among its callers, callees and lines; the heaviest first. */
struct picture_neighbour {
	const char *name, *module;
	bool is_named;
	uint64_t total_ns;
};

struct picture_opened {
	uint64_t self_ns, total_ns;
	struct picture_neighbour *callers, *callees;
	struct hot_line *lines;
	size_t caller_count, callee_count, line_count;
};

/* A counter of the process or of a device, in its last window. */
struct picture_counter {
	char name[160]; /* with the device */
	const char *unit;
	bool has_value;
	double value;
};

struct picture {
	pid_t pid;        /* 0: every process */
	char process[32]; /* its name */
	size_t others;    /* descendants shown with it; of every process: those seen */
	double percent;   /* of processors, since the last poll */
	unsigned hz;
	bool has_off_cpu;   /* waits are sampled too */
	unsigned kinds;     /* which samples these are: profile.h */
	uint64_t window_ns; /* of so long a time; 0: all that is kept */
	pid_t only_tid;     /* of this thread only; 0: all */
	struct source_facts source;
	uint64_t seen, complete, forgotten; /* samples since the beginning */
	uint64_t samples, weight_ns;        /* of these */
	struct picture_function *functions; /* by self */
	size_t function_count;
	struct picture_thread *threads; /* by number */
	size_t thread_count;
	struct call_tree tree; /* without nodes: there is none */
	struct picture_counter *counters;
	size_t counter_count;
	struct picture_opened opened; /* of the function that was wished for */
	struct live_view *view;       /* it has all names */
};

struct picture_wish {
	unsigned kinds;
	uint64_t window_ns, until_ns;
	pid_t only_tid;
	const char *function, *module; /* to be opened; NULL, or "": none */
};

/* 0 or -ENOMEM.  Of the process, its threads and the source nothing is filled in.  Frees the
 * picture before the store. */
int picture_make(struct picture **ret, struct live *live,
		 const struct picture_wish *wish) MUST_CHECK;
void picture_free(struct picture *picture);
