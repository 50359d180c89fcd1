/*
 * Records and payloads of device work, in the layout that tools see.
 */
#pragma once

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

struct memory_record {
	uint64_t size;
	int32_t kind, operation;
	struct correlation correlation;
	uint64_t thread, start_ns, end_ns;
	struct sdk_handle agent;
	uint64_t address, bytes;
};
_Static_assert(sizeof(struct memory_record) == 88, "as in the headers");

struct memory_data {
	uint64_t size, start_ns, end_ns;
	struct sdk_handle agent;
	uint64_t address, bytes;
};

struct scratch_record {
	uint64_t size;
	int32_t kind, operation;
	struct correlation correlation;
	struct sdk_handle agent, queue;
	uint64_t thread, start_ns, end_ns;
	uint32_t flags;
	uint64_t bytes;
};
_Static_assert(sizeof(struct scratch_record) == 96, "as in the headers");

/* Finds HIP's functions for kernel names; NULL: forgets them. Called on limpet's threads. */
struct agent_table;
void dispatch_learn(const struct agent_table *hip);
/* Before a HIP call that may launch a kernel. */
void dispatch_before(struct call_frame *frame);

/* The dispatch_info of a launch; or of a packet. */
struct launch;
struct dispatch_event;
struct dispatch_info dispatch_describe(const struct launch *launch);
void dispatch_describe_packet(const struct dispatch_event *event, struct dispatch_info *ret);

/* Called before a kernel is queued: numbers the dispatch and notifies contexts of both phases at
 * once, since limpet sees nothing between them. Called on the launching thread; `around`: its call,
 * or NULL. */
void dispatch_enqueue(struct call_frame *around, struct launch *launch);

/* Asks contexts that want the domain for their external ids, and notes them in the launch. */
void launch_ask_externals(struct launch *launch, enum trace_domain domain);
/* The context's; 0: the context is newer, or had no room. */
uint64_t launch_external(const struct launch *launch, unsigned context);
/* Notifies a context of a kernel or copy; thread and ids are those of the launch. */
void work_notify(unsigned context, const struct service_event *event, struct launch *launch);
