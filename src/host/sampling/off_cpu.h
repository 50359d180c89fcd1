/*
 * Threads off the processor: since when, and with which stack.
 */
#pragma once

#include "shared/base/macros.h"
#include "shared/wire/sample.h"

#include <stdbool.h>
#include <sys/types.h>

struct off_thread {
	pid_t pid, tid;
	bool is_out;
	bool is_preempted; /* it did not want to wait */
	uint64_t since_ns;
	bool has_stack;       /* of the present time off */
	uint64_t read_ns;     /* when read from outside; 0: the stack with which it left */
	struct sample *stack; /* the last one; NULL: none yet */
	size_t capacity;
};

struct off_cpu {
	struct off_thread *items; /* ascending tids */
	size_t count, room;
};

/* NULL: not known.  Pointers are valid until one is added or removed. */
struct off_thread *off_cpu_find(const struct off_cpu *off_cpu, pid_t tid);
/* Finds or adds; NULL: no memory. */
struct off_thread *off_cpu_thread(struct off_cpu *off_cpu, pid_t pid, pid_t tid);
/* Keeps a copy of the sample with its stack, and when it was read.  -ENOMEM. */
int off_thread_keep_stack(struct off_thread *thread, const struct sample *sample,
			  uint64_t read_ns) MUST_CHECK;
/* Whether the stack belongs to the time off that ends then, or to another one. */
bool off_thread_owns_stack(const struct off_thread *thread, uint64_t end_ns);
void off_cpu_forget(struct off_cpu *off_cpu, pid_t tid);
void off_cpu_done(struct off_cpu *off_cpu);
