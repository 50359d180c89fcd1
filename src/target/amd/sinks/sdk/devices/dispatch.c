/*
 * Kernels before they are queued. Runs on the launching thread: before the call, if its kernel's
 * name can be queried, and in HIP's callback inside the call.
 */
#include "target/amd/sinks/sdk/contexts.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/sinks/sdk/devices/work_records.h"
#include "target/amd/sinks/sdk/external.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/watch.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

typedef const char *name_of_function(uint64_t function);
typedef const char *name_of_pointer(uint64_t pointer, uint64_t stream);

static name_of_function *ask_function;
static name_of_pointer *ask_pointer;
static uint64_t dispatches;

static uint64_t find_function(const struct api_table *table, const uint64_t *slots, unsigned count,
			      const char *name)
{
	for (unsigned i = 0; i < MIN(count, (unsigned)table->count); i++)
		if (text_equal(table->signatures[i].name, name))
			return intercept_original(table, i, slots);
	return 0;
}

void dispatch_learn(const struct agent_table *hip)
{
	const struct api_table *table = api_table_of_callback(CALLBACK_HIP_RUNTIME);
	uint64_t *slots;
	unsigned count = hip ? intercept_read(hip, table, &slots) : 0;

	__atomic_store_n(
		&ask_function,
		count ? (name_of_function *)find_function(table, slots, count, "hipKernelNameRef")
		      : NULL,
		__ATOMIC_RELAXED);
	__atomic_store_n(&ask_pointer,
			 count ? (name_of_pointer *)find_function(table, slots, count,
								  "hipKernelNameRefByPtr")
			       : NULL,
			 __ATOMIC_RELAXED);
}

uint64_t dispatch_next(void)
{
	return __atomic_add_fetch(&dispatches, 1, __ATOMIC_RELAXED);
}

static bool context_wants(unsigned index)
{
	return context_state(&sdk_contexts[index]) == CONTEXT_ACTIVE &&
	       callback_wants(&sdk_contexts[index].callbacks[CALLBACK_KERNEL], DISPATCH_ENQUEUE);
}

static bool is_wanted(void)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_wants(i))
			return true;
	return false;
}

static const char *name_asked(const struct sdk_frame *frame, const struct argument_text *first)
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
void dispatch_before(struct sdk_frame *frame)
{
	const char *at = frame->slot->table->signatures[frame->slot->operation].text;
	struct argument_text first;
	const char *name;

	if (!is_wanted() || !signature_next(&at, &first))
		return;
	name = name_asked(frame, &first);
	frame->kernel = name ? code_kernel(name) : 0;
}

struct dispatch_info dispatch_describe(const struct launch *launch)
{
	uint64_t queue = questions_queue(launch->stream);
	struct dispatch_info info = {
		.size = sizeof(info) - sizeof(info.reserved),
		.agent = queue ? agent_of_number((uint32_t)((queue - 1) >> 32))
			       : (struct sdk_handle){ 0 },
		.queue = { queue ? (uint32_t)(queue - 1) + 1ull : 0 },
		.kernel = launch->kernel,
		.dispatch = launch->dispatch,
		.group = launch->shared_bytes,
	};

	for (unsigned i = 0; i < 3; i++) {
		info.workgroup[i] = launch->threads[i];
		info.grid[i] = launch->blocks[i] * launch->threads[i];
	}
	return info;
}

static void tell_both(unsigned index, struct kernel_data *data, struct launch *launch)
{
	const struct sdk_context *context = &sdk_contexts[launch->externals[index].context];
	struct service_event event = { .kind = CALLBACK_KERNEL,
				       .operation = DISPATCH_ENQUEUE,
				       .phase = PHASE_ENTER,
				       .payload = data };

	work_tell(launch->externals[index].context, &event, launch);
	/* External ids that a callback has pushed apply to the dispatch. */
	if (!context->request || !(context->request_kinds & 1u << REQUEST_KERNEL))
		launch->externals[index].value =
			external_current(launch->externals[index].context, (int32_t)launch->thread);
	event.phase = PHASE_EXIT;
	work_tell(launch->externals[index].context, &event, launch);
}

void dispatch_enqueue(const struct sdk_frame *around, struct launch *launch)
{
	struct kernel_data data = { .size = sizeof(data) };

	launch->dispatch = dispatch_next();
	launch->kernel = around ? around->kernel : 0;
	if (!is_wanted())
		return;
	data.info = dispatch_describe(launch);
	for (unsigned i = 0; i < launch->external_count; i++)
		if (context_wants(launch->externals[i].context))
			tell_both(i, &data, launch);
}
