/*
 * Writes records and makes callbacks of device work, on the thread that finds out about it.
 */
#include "target/amd/sinks/sdk/devices/work.h"

#include "target/amd/events/moments.h"
#include "target/amd/hip/launches.h"
#include "target/amd/hsa/code_store.h"
#include "target/amd/hsa/layouts.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/sinks/sdk/devices/open_calls.h"
#include "target/amd/sinks/sdk/devices/work_records.h"

enum { HOST_TO_DEVICE = 2, DEVICE_TO_HOST = 3, DEVICE_TO_DEVICE = 4 };
enum { ALLOCATE = 1, VIRTUAL_ALLOCATE, FREE, VIRTUAL_FREE };
enum { SCRATCH_ALLOCATED = 1, SCRATCH_FREED, SCRATCH_RECLAIMED };

bool work_is_wanted(enum trace_domain domain)
{
	const struct sdk_context *context;
	unsigned next = 0;

	while ((context = context_next(&next)))
		if (work_is_wanted_by(context, domain))
			return true;
	return false;
}

void work_launch(struct launch *launch, enum trace_domain domain, const struct thread_call *call,
		 struct call_frame *frame)
{
	launch->internal = call ? call->internal : 0;
	launch->dispatch = launch->kernel = 0;
	launch->external_count = 0;
	launch->ancestor = frame ? frame->ancestor : 0;
	if (!launch->internal)
		launch->internal = tools_next_id();
	else if (!launch->is_of_graph)
		open_call_note(launch->internal);
	launch_ask_externals(launch, domain);
	if (domain == DOMAIN_KERNEL)
		dispatch_enqueue(frame, launch);
}

static void kernel_give(unsigned context, struct kernel_record *record, struct launch *launch)
{
	struct kernel_data data = { sizeof(data), record->start_ns, record->end_ns, record->info };
	struct service_event event = { .kind = CALLBACK_KERNEL,
				       .operation = DISPATCH_COMPLETE,
				       .phase = PHASE_NONE,
				       .payload = &data };

	record->external = launch_external(launch, context);
	work_notify(context, &event, launch);
	if (buffer_wants(&sdk_contexts[context].buffers[BUFFER_KERNEL], DISPATCH_COMPLETE))
		buffer_write(context, BUFFER_KERNEL, record, sizeof(*record));
}

static void copy_give(unsigned context, struct copy_record *record, struct launch *launch)
{
	struct copy_data data = { sizeof(data),     record->start_ns,   record->end_ns,
				  record->to_agent, record->from_agent, record->bytes,
				  record->to,       record->from };
	struct service_event event = { .kind = CALLBACK_COPY,
				       .operation = record->operation,
				       .phase = PHASE_ENTER,
				       .payload = &data };

	record->external = launch_external(launch, context);
	work_notify(context, &event, launch);
	event.phase = PHASE_EXIT;
	work_notify(context, &event, launch);
	if (buffer_wants(&sdk_contexts[context].buffers[BUFFER_COPY], (unsigned)record->operation))
		buffer_write(context, BUFFER_COPY, record, sizeof(*record));
}

/* A report without a launch has an id of its own. */
static struct launch launch_of(const struct launch *reported, uint64_t thread)
{
	if (reported && reported->internal)
		return *reported;
	return (struct launch){ .internal = tools_next_id(), .thread = (int32_t)thread };
}

/* Where HSA knows no times, work lasts from when it was enqueued until its end was found. */
static struct moments times_of(const struct device_times *times)
{
	if (times->begin_ns || !times->seen_ticks)
		return (struct moments){ times->begin_ns, times->end_ns };
	return moments_of(times->asked_ticks, times->seen_ticks);
}

static void launch_end(const struct launch *launch)
{
	if (!launch->is_of_graph && open_call_end_one(launch->internal) && tools_retirements)
		tools_retire(launch->internal);
}

void work_kernel_done(const struct dispatch_event *event)
{
	const struct sdk_context *context;
	unsigned next = 0;
	struct launch launch;
	struct moments times;
	struct kernel_record record = { .size = sizeof(record),
					.kind = BUFFER_KERNEL,
					.operation = DISPATCH_COMPLETE };

	launch = launch_of(event->launch, event->thread);
	times = times_of(&event->times);
	if (!event->is_of_hip)
		launch.dispatch = event->dispatch;
	else if (!launch.dispatch)
		launch.dispatch = events_dispatch();
	record.internal = launch.internal;
	record.thread = (uint64_t)launch.thread;
	record.start_ns = times.begin_ns;
	record.end_ns = times.end_ns;
	record.info = dispatch_describe(&launch);
	if (!event->is_of_hip)
		dispatch_describe_packet(event, &record.info);
	else if (event->name)
		record.info.kernel = code_kernel(event->name);
	record.info.agent = agent_of_number((uint32_t)event->device);
	record.info.queue.handle = event->is_of_hip ? event->queue + 1 : event->queue;
	while ((context = context_next(&next)))
		kernel_give(context_number(context), &record, &launch);
	launch_end(&launch);
}

static int direction_of(enum copy_direction direction)
{
	if (direction == COPY_DEVICE_TO_HOST)
		return DEVICE_TO_HOST;
	return direction == COPY_HOST_TO_DEVICE ? HOST_TO_DEVICE : DEVICE_TO_DEVICE;
}

void work_copy_done(const struct copy_event *event)
{
	const struct sdk_context *context;
	unsigned next = 0;
	struct launch launch;
	struct moments times;
	struct copy_record record = { .size = sizeof(record),
				      .kind = BUFFER_COPY,
				      .operation = direction_of(event->direction) };

	launch = launch_of(event->launch, event->thread);
	times = times_of(&event->times);
	record.internal = launch.internal;
	record.thread = (uint64_t)launch.thread;
	record.start_ns = times.begin_ns;
	record.end_ns = times.end_ns;
	record.to_agent = agent_of_number((uint32_t)event->to_device);
	record.from_agent = agent_of_number((uint32_t)event->from_device);
	record.bytes = event->bytes;
	record.to = event->is_of_hip ? launch.to : event->to;
	record.from = event->is_of_hip ? launch.from : event->from;
	while ((context = context_next(&next)))
		copy_give(context_number(context), &record, &launch);
	launch_end(&launch);
}

bool work_end_call(uint64_t internal, bool has_failed)
{
	return open_call_return(internal, has_failed);
}

static void memory_notify(unsigned context, const struct memory_record *record)
{
	struct memory_data data = { sizeof(data),  record->start_ns, record->end_ns,
				    record->agent, record->address,  record->bytes };
	struct service_event event = { .kind = CALLBACK_MEMORY,
				       .operation = record->operation,
				       .phase = PHASE_ENTER,
				       .payload = &data,
				       .internal = record->correlation.internal,
				       .ancestor = record->correlation.ancestor };
	uint64_t user_data = 0;

	if (!callback_wants(&sdk_contexts[context].callbacks[CALLBACK_MEMORY],
			    (unsigned)record->operation))
		return;
	/* The call is over: reports both phases now, with the call's times. */
	service_notify(context, &event, &user_data);
	event.phase = PHASE_EXIT;
	service_notify(context, &event, &user_data);
}

void work_memory(const struct memory_event *event)
{
	static const uint8_t operations[] = {
		[MEMORY_ALLOCATE] = ALLOCATE,
		[MEMORY_FREE] = FREE,
		[MEMORY_VIRTUAL_ALLOCATE] = VIRTUAL_ALLOCATE,
		[MEMORY_VIRTUAL_FREE] = VIRTUAL_FREE,
	};
	const struct call_frame *frame = event->frame;
	const struct sdk_context *context;
	unsigned next = 0;
	struct memory_record record = { .size = sizeof(record),
					.kind = BUFFER_MEMORY,
					.operation = operations[event->operation],
					.correlation = { frame->internal, 0, frame->ancestor },
					.thread = (uint64_t)frame->thread->number,
					.start_ns = moment_ns(frame->begin),
					.address = event->address,
					.bytes = event->bytes };

	if (!frame->internal)
		return;
	record.end_ns = MAX(moment_ns(event->end), record.start_ns);
	if (event->operation == MEMORY_ALLOCATE || event->operation == MEMORY_VIRTUAL_ALLOCATE)
		record.agent = agent_of_pool(frame->integers[0]);
	while ((context = context_next(&next))) {
		unsigned i = context_number(context);

		memory_notify(i, &record);
		record.correlation.external = external_current(i, (int32_t)record.thread);
		if (buffer_wants(&context->buffers[BUFFER_MEMORY], (unsigned)record.operation))
			buffer_write(i, BUFFER_MEMORY, &record, sizeof(record));
	}
}

void work_scratch(const struct scratch_event *event)
{
	static const uint8_t operations[] = {
		[MEMORY_ALLOCATE] = SCRATCH_ALLOCATED,
		[MEMORY_FREE] = SCRATCH_FREED,
		[MEMORY_RECLAIM] = SCRATCH_RECLAIMED,
	};
	const struct call_thread *thread = call_thread_mine();
	const struct thread_call *call;
	const struct sdk_context *context;
	unsigned next = 0;
	struct scratch_record record = { sizeof(record),
					 BUFFER_SCRATCH,
					 operations[event->operation],
					 .flags = (uint32_t)event->flags,
					 .bytes = event->bytes,
					 .thread = event->thread };

	if (!thread)
		return;
	call = call_thread_around(thread, (uint64_t)__builtin_frame_address(0));
	record.correlation.internal = call ? call->internal : 0;
	record.start_ns = moment_ns(event->begin);
	record.end_ns = MAX(moment_ns(event->end), record.start_ns);
	record.agent = agent_of_hsa_queue(event->queue);
	record.queue.handle = event->queue ? event->queue->id + 1 : 0;
	while ((context = context_next(&next))) {
		unsigned i = context_number(context);

		if (!buffer_wants(&context->buffers[BUFFER_SCRATCH], (unsigned)record.operation))
			continue;
		record.correlation.external = external_current(i, thread->number);
		buffer_write(i, BUFFER_SCRATCH, &record, sizeof(record));
	}
}

void work_adopt(void)
{
	open_calls_adopt();
}
