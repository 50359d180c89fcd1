/*
 * Work of devices as tools see it: kernels, copies, memory and scratch.
 */
#pragma once

#include "target/amd/events/events.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/service.h"

/* Does a context want work of that domain, in callbacks or records? */
bool work_is_wanted_by(const struct sdk_context *context, enum trace_domain domain);

/* A call in which HIP has called back is over; if it failed, its launches are dropped. True: other
 * launches of the call are still to be reported. */
bool work_end_call(uint64_t internal, bool has_failed);

/* The parts of struct amd_sink for tools. */
bool work_is_wanted(enum trace_domain domain);
void work_launch(struct launch *launch, enum trace_domain domain, const struct thread_call *call,
		 struct call_frame *frame);
void work_kernel_done(const struct dispatch_event *event);
void work_copy_done(const struct copy_event *event);
void work_memory(const struct memory_event *event);
void work_scratch(const struct scratch_event *event);

/* In a forked child. */
void work_adopt(void);
