/*
 * What tools see of kernels and copies.
 */
#pragma once

#include "target/sdk/devices/questions.h"
#include "target/sdk/service.h"

enum { DISPATCH_ENQUEUE = 1, DISPATCH_COMPLETE = 2 };

struct dispatch_info {
	uint64_t size;
	struct sdk_handle agent, queue;
	uint64_t kernel, dispatch;
	uint32_t private, group;
	uint32_t workgroup[3], grid[3];
	uint8_t reserved[56];
};
_Static_assert(sizeof(struct dispatch_info) == 128, "as in the headers");

struct kernel_record {
	uint64_t size;
	int32_t kind, operation;
	uint64_t internal, external, thread, start_ns, end_ns;
	struct dispatch_info info;
};
_Static_assert(sizeof(struct kernel_record) == 184, "as in the headers");

struct kernel_data {
	uint64_t size, start_ns, end_ns;
	struct dispatch_info info;
};

struct copy_record {
	uint64_t size;
	int32_t kind, operation;
	uint64_t internal, external, thread, start_ns, end_ns;
	struct sdk_handle to_agent, from_agent;
	uint64_t bytes, to, from;
};
_Static_assert(sizeof(struct copy_record) == 96, "as in the headers");

struct copy_data {
	uint64_t size, start_ns, end_ns;
	struct sdk_handle to_agent, from_agent;
	uint64_t bytes, to, from;
};

/* Where the names of functions can be asked; NULL: nowhere.  On a thread of ours. */
struct agent_table;
void dispatch_learn(const struct agent_table *hip);

/* The number of the next kernel. */
uint64_t dispatch_next(void);

/* What a launch says of itself. */
struct dispatch_info dispatch_describe(const struct launch *launch);

/* A kernel is about to be queued: numbers it, and tells contexts of it, both phases at once:
 * nothing of the tool's business happens between them.  On the launching thread. */
void dispatch_enqueue(const struct sdk_frame *around, struct launch *launch);

/* Tells a context of a kernel or a copy; the thread and its ids are those of the launch. */
void work_tell(unsigned context, const struct service_event *event, struct launch *launch);
