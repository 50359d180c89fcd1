/*
 * Items that are packed: frames, stacks, samples and windows, each as its difference to the one
 * before it in the chunk; and the names of frames.  Frames and stacks are numbered from 0 in order,
 * through all chunks of a file; a chunk may refer only to earlier ones.
 */
#pragma once

#include "host/recording/items.h"

#define STACK_NONE      UINT32_MAX
#define FRAME_NAMES_MAX 64u

struct recorded_frame {
	uint32_t code;
	bool is_return; /* the address is where a call returns to */
	uint64_t address;
	uint32_t version; /* of code that a runtime made (symbolizer.h); not in the file: frames
			     that differ in nothing else have names of their own there */
};

/* A stack is the one of its caller and a frame more. */
struct recorded_stack {
	uint32_t caller; /* STACK_NONE: it is the outermost */
	uint32_t frame;
};

struct recorded_sample {
	uint32_t thread;
	uint32_t stack;   /* STACK_NONE: no frame is known */
	uint64_t time_ns; /* CLOCK_MONOTONIC, of its end */
	uint64_t weight_ns;
	uint32_t cpu;
	uint8_t kind, end, flags, state; /* as in wire/sample.h */
};

/* From a sampler's sample, with the numbers of its thread and stack. */
static inline struct recorded_sample recorded_sample_of(const struct sample *sample,
							uint32_t thread, uint32_t stack)
{
	return (struct recorded_sample){
		.thread = thread,
		.stack = stack,
		.time_ns = sample->time_ns,
		.weight_ns = sample->weight_ns,
		.cpu = sample->cpu,
		.kind = sample->kind,
		.end = sample->end,
		.flags = sample->flags,
		.state = sample->state,
	};
}

/* One function at a frame; the innermost first. */
struct recorded_name {
	const char *function, *file; /* "": not known */
	uint32_t line;
};

/* The base of differences within a chunk; zero at its beginning. */
struct sample_packer {
	uint64_t address, time_ns, weight_ns[SAMPLE_KINDS + 1]; /* one for a future kind */
	uint64_t frame, stack;
};

void frame_pack(struct bytes *bytes, struct sample_packer *packer,
		const struct recorded_frame *frame);
int frame_unpack(struct cursor *cursor, struct sample_packer *packer,
		 struct recorded_frame *ret) MUST_CHECK;

/* `number` is that of the stack itself. */
void stack_pack(struct bytes *bytes, struct sample_packer *packer, uint32_t number,
		const struct recorded_stack *stack);
int stack_unpack(struct cursor *cursor, struct sample_packer *packer, uint32_t number,
		 struct recorded_stack *ret) MUST_CHECK;

/* One has no fewer. */
#define SAMPLE_BYTES_LEAST 6u
/* And none more. */
#define SAMPLE_BYTES_MOST (6u * VARINT_MAX + 1)

void sample_pack(struct bytes *bytes, struct sample_packer *packer,
		 const struct recorded_sample *sample);
/* A kind newer than this limpet becomes SAMPLE_KINDS. */
int sample_unpack(struct cursor *cursor, struct sample_packer *packer,
		  struct recorded_sample *ret) MUST_CHECK;

/* All samples of a chunk.  Zero is none. */
struct decoded_samples {
	struct recorded_sample *items;
	size_t count, room;
	int result; /* 0, -EPROTO, -ENOMEM */
};

/* Its room is used again; the result is also answered. */
int samples_decode(struct cursor payload, struct decoded_samples *ret) MUST_CHECK;
void decoded_samples_done(struct decoded_samples *samples);

/* The names of one frame; frames may be in any order, a later one replaces an earlier. */
void names_pack(struct bytes *bytes, uint32_t frame, const struct recorded_name *names,
		uint32_t count);
int names_unpack(struct cursor *cursor, uint32_t *ret_frame,
		 struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count) MUST_CHECK;

/* Windows: what was measured of a process, a device or the machine from one moment to another, by
 * any source.  Values of kernels are none of these: they belong to a kernel, not to a time. */
enum window_flag {
	WINDOW_MISSING = 1,   /* nothing could be measured: there is no value */
	WINDOW_ESTIMATED = 2, /* measured in part of the window, and scaled to all of it */
};
#define WINDOW_FLAGS 3u

struct recorded_window {
	uint32_t metric;
	uint32_t flags;            /* enum window_flag, or'ed */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	double value;              /* 0 where it is missing */
};

/* As sample_packer. */
struct window_packer {
	uint64_t begin_ns, length_ns;
};

#define WINDOW_BYTES_LEAST 3u

void window_pack(struct bytes *bytes, struct window_packer *packer,
		 const struct recorded_window *window);
/* -EPROTO also where its value is no number. */
int window_unpack(struct cursor *cursor, struct window_packer *packer,
		  struct recorded_window *ret) MUST_CHECK;
