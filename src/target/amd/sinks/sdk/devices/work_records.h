/*
 * Records and payloads of kernels and copies, in the layout that tools see.
 */
#pragma once

#include "target/amd/hip/questions.h"
#include "target/amd/sinks/sdk/service.h"

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

/* Finds HIP's functions for kernel names; NULL: forgets them. Called on limpet's threads. */
struct agent_table;
void dispatch_learn(const struct agent_table *hip);

/* The number of the next kernel dispatch. */
uint64_t dispatch_next(void);

/* The dispatch_info of a launch. */
struct dispatch_info dispatch_describe(const struct launch *launch);

/* Called before a kernel is queued: numbers the dispatch and notifies contexts of both phases at
 * once, since limpet sees nothing between them. Called on the launching thread. */
void dispatch_enqueue(const struct sdk_frame *around, struct launch *launch);

/* Notifies a context of a kernel or copy; thread and ids are those of the launch. */
void work_tell(unsigned context, const struct service_event *event, struct launch *launch);
