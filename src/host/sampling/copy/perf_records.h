/*
 * The records of perf's rings, sorted by time; samples among them, with registers and a copy of the
 * stack.
 */
#pragma once

#include "host/sampling/copy/perf_events.h"
#include "host/unwind/walk.h"

#define PERF_COMMON_BYTES 32u /* see struct perf_record */

/* The fields that every record carries: { pid, tid }, time, id, { cpu, reserved }
 * (attr.sample_id_all), at the beginning of samples and at the end of others. */
struct perf_record {
	const struct perf_event_header *header;
	uint64_t time_ns, id;
	pid_t pid, tid;
	uint32_t cpu;
};

struct perf_batch {
	struct perf_record *items;
	size_t count, room;
	void **copies; /* of records across the end of a ring */
	size_t copy_count, copy_room;
	uint64_t *heads; /* of each ring: where the next reading begins */
};

/* Records point into the rings until perf_batch_done(), which frees their room. */
int perf_batch_read(struct perf_batch *ret, struct perf_events *events) MUST_CHECK;
void perf_batch_done(struct perf_batch *batch, struct perf_events *events);

/* The registers of this machine that a sample carries, for attr.sample_regs_user. */
uint64_t perf_register_mask(void);

struct perf_sample {
	const uint64_t *kernel; /* addresses, innermost first; aligned to 8 */
	unsigned kernel_count;
	bool has_user; /* false: a kernel thread */
	struct walk_registers registers;
	const unsigned char *stack; /* from registers.sp on */
	uint64_t stack_size;
};

/* -EBADMSG: a field is missing. */
int perf_sample_read(struct perf_sample *ret, const struct perf_record *record,
		     bool has_callchain) MUST_CHECK;
