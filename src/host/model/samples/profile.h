/*
 * Samples added up: the count of each stack, functions by their own time and by that of their
 * callees, threads by their activity.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/model/samples/samples.h"

#define KIND_BIT(kind) (1u << (kind))
#define KINDS_ON_CPU   KIND_BIT(SAMPLE_RUNNING)
#define KINDS_OFF_CPU  KIND_BIT(SAMPLE_BLOCKED)
#define KINDS_MEMORY   (KIND_BIT(SAMPLE_ALLOCATED) | KIND_BIT(SAMPLE_LIVE))
#define KINDS_CALLS    (KINDS_MEMORY | KIND_BIT(SAMPLE_LOCK) | KIND_BIT(SAMPLE_IO))
#define KINDS_ALL      (KINDS_ON_CPU | KINDS_OFF_CPU | KIND_BIT(SAMPLE_RUNNABLE))

/* All samples with the same stack, of the same kind. */
struct profile_entry {
	uint32_t thread; /* its number; THREAD_NONE if threads are not distinguished */
	uint32_t stack;
	enum sample_kind kind;
	enum stack_end end;
	uint64_t count, weight_ns;
	double squares; /* of the weights, in ns^2: how uneven they are */
};

struct profile {
	const struct samples *samples;
	struct profile_entry *entries; /* the heaviest first */
	uint32_t count;
	size_t room;                      /* where the caller adds entries itself */
	uint64_t sample_count, weight_ns; /* of all entries */
	double squares;
};

/* Zero is all. */
struct profile_filter {
	unsigned kinds;     /* bits KIND_BIT(); 0: all */
	bool is_one_thread; /* only `thread` */
	uint32_t thread;
	bool is_by_thread; /* entries of different threads are different */
};

int sample_profile_gather(struct profile *ret, struct model *model,
			  const struct profile_filter *filter) MUST_CHECK;
void sample_profile_done(struct profile *profile);

DEFINE_STRUCT_CLEANUP(profile, sample_profile_done)

/* The kinds to show: the requested view, else running ones, or, if there are none, all. */
unsigned profile_kinds(const struct samples *samples);

/* "on-cpu", ...; NULL for other sets. */
const char *profile_kinds_name(unsigned kinds);
/* Their weights are bytes, not nanoseconds. */
static inline bool profile_kinds_are_bytes(unsigned kinds)
{
	return kinds & KINDS_MEMORY;
}

/* They stand for traced calls (model/calls/call_view.h). */
static inline bool profile_kinds_are_calls(unsigned kinds)
{
	return kinds & KINDS_CALLS;
}

/* 0: there is no such set. */
unsigned profile_kinds_find(const char *name);

/* The stack whose innermost function gets the entry's time as "self": the running one, or, of a
 * waiting thread, the one that called the kernel.  Such waits all end in the kernel's scheduler.  A
 * stack of the kernel alone keeps its innermost. */
uint32_t profile_place(const struct samples *samples, const struct profile_entry *entry);

struct hot_function {
	const struct sample_function *function;
	uint64_t self_ns, total_ns; /* in the function itself; with its callees */
	uint64_t self_count, total_count;
	double self_squares; /* of the weights, as in profile_entry */
};

struct hot_functions {
	struct hot_function *rows; /* by self, then by total */
	size_t count;
};

int hot_functions_find(struct hot_functions *ret, const struct profile *profile) MUST_CHECK;
void hot_functions_done(struct hot_functions *hot);

DEFINE_STRUCT_CLEANUP(hot_functions, hot_functions_done)

/* "name (11)". */
const char *process_title(const struct model_process *process, char *ret, size_t room);
/* "redis (11)", of a recording of every process "every process on HOST". */
const char *recording_title(const struct model *model, char *ret, size_t room);

/* Does it cover all processes of the machine?  Then stacks are grouped by process. */
bool samples_are_system_wide(const struct samples *samples);

/* "name (12)"; "program 11: name (12)" where the recording has several processes. */
const char *thread_title(const struct model *model, const struct model_thread *thread, char *ret,
			 size_t room);

/* The activity of one thread. */
struct thread_profile {
	const struct model_thread *thread;
	uint64_t counts[MODEL_KINDS], weights_ns[MODEL_KINDS];
	uint64_t disk_ns;    /* of blocked: uninterruptible, in most cases for a disk */
	uint64_t incomplete; /* stacks */
};

static inline uint64_t thread_profile_count(const struct thread_profile *row)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < SAMPLE_KINDS; i++)
		count += row->counts[i];
	return count;
}

/* One for each thread of the model, in its order. */
int thread_profiles_find(struct thread_profile **ret, struct model *model) MUST_CHECK;

/* The activity of all threads of a process. */
struct process_profile {
	const struct model_process *process;
	uint64_t threads, samples; /* threads that had any */
	uint64_t weights_ns[SAMPLE_KINDS];
	uint64_t incomplete; /* stacks */
};

/* One for each process of the model, in order, from those of its threads. */
int process_profiles_add_up(struct process_profile **ret, const struct model *model,
			    const struct thread_profile *threads) MUST_CHECK;

/* Half of the 95 % confidence interval of a function's own share, in hundredths of a percent.  It
 * accounts for the weights: one long wait is less informative than many short ones.  For 0 and 100
 * percent it is the distance of the possible share (rule of three). */
uint64_t share_error(const struct hot_function *function, const struct profile *profile);
