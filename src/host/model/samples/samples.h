/*
 * The samples of a recording: the activity of threads over time.  Modules, frames and stacks are
 * kept; samples themselves are read again each time.
 */
#pragma once

#include "host/core/pool.h"
#include "host/model/model.h"
#include "host/recording/pack_samples.h"
#include "host/symbols/symbolizer.h"

#define STACK_DEPTH_MAX (2u * SAMPLE_FRAMES_MAX)

/* Kinds that replace samples (calls/call_view.h), beside those of recordings.  Weights of the first
 * two are bytes. */
enum call_sample_kind {
	SAMPLE_ALLOCATED = SAMPLE_KINDS,
	SAMPLE_LIVE, /* not freed by the end */
	SAMPLE_LOCK, /* time in calls that wait for locks */
	SAMPLE_IO,   /* time in calls that read and write */
	MODEL_KINDS,
};

struct sample_code {
	enum code_kind kind;
	uint32_t process; /* PROCESS_NONE */
	uint32_t build_id_size;
	unsigned char build_id[BUILD_ID_MAX];
	const char *path, *name; /* name: without its folders */
};

/* A function of some code; the same name in the same code is the same function. */
struct sample_function {
	const char *name;
	uint32_t code;
	bool is_named; /* else the name is a location: "libfoo.so+0x1234" */
};

/* One function of a frame; a frame has several with inlining. */
struct sample_location {
	uint32_t function;
	uint32_t line;    /* 0: not known */
	const char *file; /* "": not known */
};

struct sample_frame {
	uint32_t code;
	bool is_return;
	bool is_unnamed; /* nothing in the file names it: see model_name_late() */
	bool has_lines;  /* resolved (host/top) */
	uint64_t address;
	uint32_t version; /* of code that a runtime made, where the recording is in memory */
	uint32_t first_location, location_count; /* the innermost first; at least one */
};

struct sample_stack {
	uint32_t caller, frame;
	uint32_t depth; /* frames in it */
};

struct samples {
	char *sampler, *reasons;
	uint32_t hz, flags;
	uint64_t lost;
	uint64_t count;                                       /* in the file */
	uint64_t kinds[MODEL_KINDS], weights_ns[MODEL_KINDS]; /* of them */
	uint64_t ends[STACK_ENDS];
	uint64_t guessed;
	uint64_t unnamed; /* frames without a name in the file, as it was cut */
	unsigned view;    /* the kinds that exporters write, as in profile.h; 0: the usual ones */
	uint64_t first_ns, last_ns; /* CLOCK_BOOTTIME; the beginning of the first, the end of the
				       last */

	struct sample_code *codes;
	struct sample_frame *frames;
	struct sample_stack *stacks;
	struct sample_function *functions;
	struct sample_location *locations;
	uint64_t *chunks; /* offsets of chunks with samples */
	/* The shown part of each stack (shown.h); NULL: all of it. */
	uint32_t *shown;
	bool is_bare_shown; /* also samples without a shown part */
	/* Instead: samples in memory; their owner fills in the rest, too (host/top). */
	const struct recorded_sample *kept;
	size_t kept_count;
	/* How many each of them stands for; NULL: one.  The model's own, as kept_made is. */
	uint64_t *kept_counts;
	struct recorded_sample *kept_made;
	/* While a file is read: the samples of one chunk, and the watcher that gets them. */
	struct decoded_samples decoded;
	const struct sample_watcher *watcher;
	size_t code_count, code_room, frame_count, frame_room, stack_count, stack_room;
	size_t function_count, function_room, location_count, location_room, chunk_count,
		chunk_room;
	struct pool texts;
	struct table *function_table;
	struct raw_stacks *raw; /* NULL: there are none */
};

/* One sample.  Valid until its visitor returns. */
struct sample_event {
	const struct model_thread *thread;
	uint32_t stack;              /* STACK_NONE */
	uint64_t time_ns, weight_ns; /* CLOCK_BOOTTIME of its end */
	uint64_t count;              /* it stands for so many */
	uint32_t cpu;
	enum sample_kind kind;
	enum stack_end end;
	bool is_guessed;
	char state;
};

/* Sees all samples while a recording is opened, in the order of the file: they need not be read a
 * second time.  Numbers of threads and stacks are sound.  0 or -ENOMEM. */
struct sample_watcher {
	int (*sampled)(void *context, const struct recorded_sample *samples, size_t count);
	void *context;
};

int model_open_watched(const char *path, const struct sample_watcher *watcher, struct model **ret,
		       struct err *err) MUST_CHECK;

typedef int sample_visitor(const struct sample_event *event, void *context);

/* In the order of the file, which in each thread is that of their ends.  Returns the visitor's
 * first result other than 0. */
int model_each_sample(struct model *model, sample_visitor *visit, void *context) MUST_CHECK;

/* Finds names for frames that the file has none for, in the files of this machine.  0 or -ENOMEM.
 */
int model_name_late(struct model *model) MUST_CHECK;

/* The stack that has this frame inside of *stack (STACK_NONE: none), made if it is not in the table
 * of (caller, frame): *stack becomes its number.  0 or -ENOMEM. */
int samples_stack(struct samples *samples, struct table *numbers, uint32_t frame,
		  uint32_t *stack) MUST_CHECK;

/* The frames of a stack, innermost first; how many.  At most STACK_DEPTH_MAX. */
size_t stack_frames(const struct samples *samples, uint32_t stack, uint32_t *ret);

/* "complete", "no-table", ...: for programs; stack_end_name() of sampler.h is for people. */
const char *stack_end_key(unsigned end);

/* In hundredths of a percent: how many stacks reached their outermost frame. */
uint64_t samples_complete(const struct samples *samples);

/* Adds the codes from this one on to the symbolizer, which numbers them: only files that can be
 * proven to be the same are opened.  -ENOMEM. */
int samples_open_codes(const struct samples *samples, size_t first,
		       struct symbolizer *symbolizer) MUST_CHECK;

/* For the reader of chunks: 0; -EPROTO: it makes no sense; -EFBIG: it has too much; -ENOMEM. */
int samples_read_sampling(struct model *model, const struct chunk *chunk) MUST_CHECK;
int samples_read_codes(struct model *model, const struct chunk *chunk) MUST_CHECK;
int samples_read_frames(struct model *model, const struct chunk *chunk) MUST_CHECK;
int samples_read_stacks(struct model *model, const struct chunk *chunk) MUST_CHECK;
int samples_read_names(struct model *model, const struct chunk *chunk) MUST_CHECK;
int samples_read_gil(struct model *model, const struct chunk *chunk) MUST_CHECK;
/* All samples of a chunk, or none of them. */
int samples_read_chunk(struct model *model, const struct chunk *chunk) MUST_CHECK;

struct samples *samples_new(void);
void samples_free(struct samples *samples);
int samples_finish(struct model *model) MUST_CHECK;
int samples_set_names(struct samples *samples, struct sample_frame *frame,
		      const struct recorded_name *names, uint32_t count) MUST_CHECK;
/* Names a frame without a symbol by its location. */
int sample_name_by_location(struct samples *samples, struct sample_frame *frame) MUST_CHECK;

/* Stacks of calls that a recording holds as addresses, as older ones do: they get numbers among
 * those of its samples when it is opened, and names when unnamed samples get them. */
struct raw_stacks;
/* Once, when the recording has been read: numbers each.  -ENOMEM. */
int raw_stacks_number(struct model *model) MUST_CHECK;
/* The number of one: STACK_NONE where it has none. */
uint32_t raw_stack_find(const struct model *model, const struct model_process *process,
			const uint64_t *frames, unsigned count);
void raw_stacks_free(struct raw_stacks *stacks);
