/*
 * A perf sample with registers and a copy of the stack.
 */
#pragma once

#include "host/sampling/copy/perf_batch.h"
#include "host/unwind/walk.h"

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
