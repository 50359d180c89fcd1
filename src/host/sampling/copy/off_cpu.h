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
	bool has_stack;   /* of the time off in which it was taken */
	uint64_t read_ns; /* when it was read from outside; 0: it is the one with which it left */
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
/* Keeps the stack that the sample has, and when that was read.  -ENOMEM. */
int off_thread_keep_stack(struct off_thread *thread, const struct sample *sample,
			  uint64_t read_ns) MUST_CHECK;
/* Whether the stack is that of the time off which ends then; else it is another one's. */
bool off_thread_owns_stack(const struct off_thread *thread, uint64_t end_ns);
void off_cpu_forget(struct off_cpu *off_cpu, pid_t tid);
void off_cpu_done(struct off_cpu *off_cpu);
