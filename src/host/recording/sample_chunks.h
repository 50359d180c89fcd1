/*
 * The payloads of chunks about samples: written, and read as foreign bytes.  Modules, frames and
 * stacks are numbered from 0 in order, through all chunks of a file; a chunk may refer only to
 * earlier ones.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/recording/format.h"
#include "shared/wire/sample.h"

#define PROCESS_NONE    UINT32_MAX
#define STACK_NONE      UINT32_MAX
#define FRAME_NAMES_MAX 64u

/* The sampling's options, and its counts so far; a later one replaces it. */
struct recorded_sampling {
	const char *sampler; /* "bpf" */
	const char *reasons; /* lines: why no better one could be had */
	uint32_t hz;
	uint32_t flags; /* enum sampling_flags */
	uint64_t samples, lost;
	uint64_t ends[STACK_ENDS];
};

enum sampling_flags {
	SAMPLING_ON_CPU = 1 << 0,
	SAMPLING_OFF_CPU = 1 << 1,
	SAMPLING_KERNEL = 1 << 2,
	SAMPLING_SYSTEM_WIDE = 1 << 3, /* every process, not only named ones */
};

/* The origin of code. */
struct recorded_code {
	uint32_t kind;    /* enum code_kind (host/symbols) */
	uint32_t process; /* owner of the addresses; PROCESS_NONE: a file, or the kernel */
	uint32_t build_id_size;
	unsigned char build_id[BUILD_ID_MAX];
	const char *path;
};

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

/* How often a thread was seen with the lock of its Python, and waiting for it. */
struct recorded_gil {
	uint32_t thread;
	uint64_t looks, held, waited;
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

void sampling_put(struct bytes *bytes, const struct recorded_sampling *sampling);
int sampling_take(struct cursor cursor, struct recorded_sampling *ret) MUST_CHECK;

/* A chunk of them begins with their count; a later one replaces all. */
void gil_put(struct bytes *bytes, const struct recorded_gil *gil);
void gil_set_count(struct bytes *bytes, uint32_t count);
int gil_take(struct cursor *cursor, struct recorded_gil *ret) MUST_CHECK;

/* The head of each of the others: the number of its first item, and how many follow. */
struct numbered_head {
	uint32_t first, count;
};

#define NUMBERED_HEAD_BYTES 8u

int numbered_take(struct cursor *cursor, struct numbered_head *ret) MUST_CHECK;
/* Fills in the head of a payload that began with as many bytes. */
void numbered_set(struct bytes *bytes, const struct numbered_head *head);

void code_put(struct bytes *bytes, const struct recorded_code *code);
int code_take(struct cursor *cursor, struct recorded_code *ret) MUST_CHECK;

/* The base of differences within a chunk; zero at its beginning. */
struct sample_packer {
	uint64_t address, time_ns, weight_ns[SAMPLE_KINDS + 1]; /* one for a future kind */
	uint64_t frame, stack;
};

void frame_put(struct bytes *bytes, struct sample_packer *packer,
	       const struct recorded_frame *frame);
int frame_take(struct cursor *cursor, struct sample_packer *packer,
	       struct recorded_frame *ret) MUST_CHECK;

/* `number` is that of the stack itself. */
void stack_put(struct bytes *bytes, struct sample_packer *packer, uint32_t number,
	       const struct recorded_stack *stack);
int stack_take(struct cursor *cursor, struct sample_packer *packer, uint32_t number,
	       struct recorded_stack *ret) MUST_CHECK;

/* One has no fewer. */
#define SAMPLE_BYTES_LEAST 6u
/* And none more. */
#define SAMPLE_BYTES_MOST (6u * VARINT_MAX + 1)

void sample_put(struct bytes *bytes, struct sample_packer *packer,
		const struct recorded_sample *sample);
/* A kind newer than this limpet becomes SAMPLE_KINDS. */
int sample_take(struct cursor *cursor, struct sample_packer *packer,
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
void names_put(struct bytes *bytes, uint32_t frame, const struct recorded_name *names,
	       uint32_t count);
int names_take(struct cursor *cursor, uint32_t *ret_frame,
	       struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count) MUST_CHECK;
