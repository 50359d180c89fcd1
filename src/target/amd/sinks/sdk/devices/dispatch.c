/*
 * Kernels before they are queued. Runs on the launching thread: before the call, if its kernel's
 * name can be queried, and in HIP's callback inside the call.
 */
#include "target/amd/events/events.h"
#include "target/amd/hip/launches.h"
#include "target/amd/hsa/code_store.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/sinks/sdk/devices/work_records.h"
#include "target/amd/tables/read.h"

typedef const char *name_of_function(uint64_t function);
typedef const char *name_of_pointer(uint64_t pointer, uint64_t stream);

static name_of_function *ask_function;
static name_of_pointer *ask_pointer;

void dispatch_learn(const struct agent_table *hip)
{
	uint64_t of_function = hip ? table_find_function(hip, API_HIP, "hipKernelNameRef") : 0;
	uint64_t of_pointer = hip ? table_find_function(hip, API_HIP, "hipKernelNameRefByPtr") : 0;

	__atomic_store_n(&ask_function, (name_of_function *)of_function, __ATOMIC_RELAXED);
	__atomic_store_n(&ask_pointer, (name_of_pointer *)of_pointer, __ATOMIC_RELAXED);
}

static bool is_wanted(void)
{
	const struct sdk_context *context;
	unsigned next = 0;

	while ((context = context_next(&next)))
		if (callback_wants(&context->callbacks[CALLBACK_KERNEL], DISPATCH_ENQUEUE))
			return true;
	return false;
}

static const char *name_ask(const struct call_frame *frame, const struct argument_text *first)
{
	name_of_function *of_function = __atomic_load_n(&ask_function, __ATOMIC_RELAXED);
	name_of_pointer *of_pointer = __atomic_load_n(&ask_pointer, __ATOMIC_RELAXED);
	uint64_t function = frame->integers[0];

	if (!function)
		return NULL;
	if (of_function && !__builtin_memcmp(first->type, "hipFunction_t:", 14))
		return of_function(function);
	if (of_pointer && !__builtin_memcmp(first->type, "const void*:", 12))
		return of_pointer(function, 0);
	return NULL;
}

/* limpet may query HIP for the kernel's name before the call, but not inside. */
void dispatch_before(struct call_frame *frame)
{
	struct argument_text first;
	const char *at, *name;

	if (!frame->internal || !is_wanted())
		return;
	at = call_table(frame->slot)->signatures[frame->slot->operation].text;
	if (!signature_next(&at, &first))
		return;
	name = name_ask(frame, &first);
	tools_frame_of(frame)->kernel = name ? code_kernel(name) : 0;
}

struct dispatch_info dispatch_describe(const struct launch *launch)
{
	uint64_t queue = launches_queue(launch);
	struct dispatch_info info = {
		.size = sizeof(info) - sizeof(info.reserved),
		.agent = queue ? agent_of_number((uint32_t)((queue - 1) >> 32))
			       : (struct sdk_handle){ 0 },
		.queue = { queue ? (uint32_t)(queue - 1) + 1ull : 0 },
		.kernel = launch->kernel,
		.dispatch = launch->dispatch,
		.group = (uint32_t)launch->local_bytes,
	};

	for (unsigned i = 0; i < 3; i++) {
		info.workgroup[i] = launch->group[i];
		info.grid[i] = launch->grid[i];
	}
	return info;
}

void dispatch_describe_packet(const struct dispatch_event *event, struct dispatch_info *ret)
{
	ret->kernel = code_store_find_object(event->object);
	ret->private = (uint32_t)event->private_bytes;
	ret->group = (uint32_t)event->group_bytes;
	for (unsigned i = 0; i < 3; i++) {
		ret->workgroup[i] = event->group[i];
		ret->grid[i] = event->grid[i];
	}
}

static void notify_both(unsigned index, struct kernel_data *data, struct launch *launch)
{
	struct launch_external *external = &launch->externals[index];
	const struct sdk_context *context = &sdk_contexts[external->context];
	struct service_event event = { .kind = CALLBACK_KERNEL,
				       .operation = DISPATCH_ENQUEUE,
				       .phase = PHASE_ENTER,
				       .payload = data };

	if (!callback_wants(&context->callbacks[CALLBACK_KERNEL], DISPATCH_ENQUEUE))
		return;
	work_notify(external->context, &event, launch);
	/* External ids that a callback has pushed apply to the dispatch. */
	if (!context->request || !(context->request_kinds & 1u << REQUEST_KERNEL))
		external->value = external_current(external->context, launch->thread);
	event.phase = PHASE_EXIT;
	work_notify(external->context, &event, launch);
}

void dispatch_enqueue(struct call_frame *around, struct launch *launch)
{
	struct kernel_data data = { .size = sizeof(data) };

	launch->dispatch = events_dispatch();
	if (around && around->internal) {
		launch->kernel = tools_frame_of(around)->kernel;
		around->thread->told = (struct told_dispatch){ around->internal, launch->dispatch };
	}
	if (!is_wanted())
		return;
	data.info = dispatch_describe(launch);
	for (unsigned i = 0; i < launch->external_count; i++)
		notify_both(i, &data, launch);
}
