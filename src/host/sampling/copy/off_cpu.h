/*
 * Threads that are off the processor: since when, and with which stack.
 */
#pragma once

#include "shared/base/macros.h"
#include "shared/wire/sample.h"

#include <stdbool.h>
#include <sys/types.h>

struct off_thread {
	pid_t pid, tid;
	bool is_out;
	bool is_preempted; /* it wanted to go on */
	uint64_t since_ns;
	bool has_stack; /* of this time off */
	uint8_t end, flags;
	uint16_t kernel_count, user_count;
	__u64 *frames; /* as in struct sample */
};

struct off_cpu {
	struct off_thread *items; /* ascending tids */
	size_t count, room;
};

/* Finds or adds; NULL: no memory.  Pointers hold until the next call. */
struct off_thread *off_cpu_thread(struct off_cpu *off_cpu, pid_t pid, pid_t tid);
/* Keeps the stack that the sample has.  -ENOMEM. */
int off_thread_keep_stack(struct off_thread *thread, const struct sample *sample) MUST_CHECK;
void off_cpu_forget(struct off_cpu *off_cpu, pid_t tid);
void off_cpu_done(struct off_cpu *off_cpu);
