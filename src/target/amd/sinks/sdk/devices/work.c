/*
 * At a launch, HIP calls back on the launching thread: is the work to be reported? When the work is
 * done, HIP reports it on its own thread. questions.c matches reports to launches.
 */
#include "target/amd/sinks/sdk/devices/work.h"

#include "target/amd/hip/questions.h"
#include "target/amd/hip/work_registration.h"
#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/contexts.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/sinks/sdk/devices/work_records.h"
#include "target/amd/sinks/sdk/external.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/amd/tables/intercept.h"

#define LOWEST_ADDRESS 4096u /* smaller values are flags, not records */

enum { REPORT_OF_COMMANDS = 2 };
enum { WANTED = 0, NOT_WANTED = 1 };
enum { HOST_TO_DEVICE = 2, DEVICE_TO_HOST = 3, DEVICE_TO_DEVICE = 4 };

/* A report, in the layout of the runtime's public protocol. */
struct activity {
	uint32_t domain, kind, command, reserved0;
	uint64_t correlation, begin_ns, end_ns;
	int32_t device, reserved1;
	uint64_t queue;
	union {
		uint64_t bytes;
		const char *kernel;
	};
};

static uint32_t inside;

static bool context_wants(unsigned index, uint32_t command)
{
	const struct sdk_context *context = &sdk_contexts[index];
	bool is_kernel = command == COMMAND_KERNEL;

	return context->callbacks[is_kernel ? CALLBACK_KERNEL : CALLBACK_COPY].callback ||
	       context->buffers[is_kernel ? BUFFER_KERNEL : BUFFER_COPY].buffer.handle;
}

static bool is_wanted(uint32_t command)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) == CONTEXT_ACTIVE && context_wants(i, command))
			return true;
	return false;
}

/* Reads stream and dimensions from the arguments of the enclosing call, by its signature. */
static void read_call(const struct sdk_frame *frame, struct launch *ret)
{
	const struct signature *signature = &frame->slot->table->signatures[frame->slot->operation];
	const struct call_layout *layout = &service_layouts[frame->slot - service_slots];
	const char *at = signature->text;
	struct argument_text text;
	unsigned shapes = 0;

	for (unsigned i = 0; i < layout->count && signature_next(&at, &text); i++) {
		const unsigned char *value = frame->payload.bytes + layout->places[i].offset;

		if (*text.code == 'd')
			__builtin_memcpy(shapes++ ? ret->threads : ret->blocks, value, 12);
		else if (!__builtin_memcmp(text.type, "hipStream_t:", 12))
			__builtin_memcpy(&ret->stream, value, 8);
		else if (!__builtin_memcmp(text.name, "sharedMemBytes:", 15))
			__builtin_memcpy(&ret->shared_bytes, value, 4);
		else if (!__builtin_memcmp(text.name, "dst:", 4) && *text.code == 'p')
			__builtin_memcpy(&ret->to, value, 8);
		else if (!__builtin_memcmp(text.name, "src:", 4) && *text.code == 'p')
			__builtin_memcpy(&ret->from, value, 8);
	}
}

static void ask_externals(const struct sdk_thread *thread, struct launch *launch)
{
	int kind = launch->command == COMMAND_KERNEL ? REQUEST_KERNEL : REQUEST_COPY;

	for (unsigned i = 0; i < CONTEXTS_MAX && launch->external_count < EXTERNALS_MAX; i++) {
		const struct sdk_context *context = &sdk_contexts[i];
		uint64_t value = external_current(i, thread->number);

		if (context_state(context) != CONTEXT_ACTIVE || !context_wants(i, launch->command))
			continue;
		if (context->request && context->request_kinds & 1u << kind)
			service_request(i, kind, launch->command == COMMAND_KERNEL,
					launch->internal, &value);
		launch->externals[launch->external_count].context = i;
		launch->externals[launch->external_count].life = context->life;
		launch->externals[launch->external_count].user_data = 0;
		launch->externals[launch->external_count++].value = value;
	}
}

/* Outside of a traced call, the thread stands for its stream. */
static int question_answer(uint32_t command)
{
	struct sdk_thread *thread = sdk_thread_mine();
	struct launch launch = { .command = command };
	uint64_t frame = (uint64_t)__builtin_frame_address(0);
	struct sdk_frame *around;

	if (!thread || command >= COMMANDS || !is_wanted(command))
		return NOT_WANTED;
	launch.thread = (uint32_t)thread->number;
	launch.stream = 1ull << 63 | launch.thread;
	around = sdk_thread_frame(thread, frame);
	launch.internal = around ? around->internal : service_next_id();
	launch.ancestor = around ? around->ancestor : 0;
	launch.has_returned = !around;
	if (around) {
		around->asked++;
		read_call(around, &launch);
	}
	ask_externals(thread, &launch);
	if (command == COMMAND_KERNEL)
		dispatch_enqueue(around, &launch);
	if (around && command == COMMAND_KERNEL)
		thread->told = (struct told_dispatch){ around->internal, launch.dispatch };
	question_note(&launch);
	return WANTED;
}

/* The context's external id in a launch; external_count if the context is newer, or had no room. */
static unsigned external_index(const struct launch *launch, unsigned context)
{
	unsigned i = 0;

	while (i < launch->external_count &&
	       (launch->externals[i].context != context ||
		launch->externals[i].life != sdk_contexts[context].life))
		i++;
	return i;
}

static uint64_t external_of(const struct launch *launch, unsigned context)
{
	unsigned i = external_index(launch, context);

	return i < launch->external_count ? launch->externals[i].value : 0;
}

void work_tell(unsigned context, const struct service_event *event, struct launch *launch)
{
	unsigned i = external_index(launch, context);
	uint64_t none = 0, *user_data = &none;
	struct service_event told = *event;

	if (!callback_wants(&sdk_contexts[context].callbacks[event->kind],
			    (unsigned)event->operation))
		return;
	told.internal = launch->internal;
	told.ancestor = launch->ancestor;
	told.thread = launch->thread;
	told.external = &none;
	if (i < launch->external_count) {
		told.external = &launch->externals[i].value;
		user_data = &launch->externals[i].user_data;
	}
	service_tell(context, &told, user_data);
}

static void give_kernel(unsigned context, struct kernel_record *record, struct launch *launch)
{
	struct kernel_data data = { sizeof(data), record->start_ns, record->end_ns, record->info };
	struct service_event event = { .kind = CALLBACK_KERNEL,
				       .operation = DISPATCH_COMPLETE,
				       .phase = PHASE_NONE,
				       .payload = &data };

	record->external = external_of(launch, context);
	work_tell(context, &event, launch);
	if (buffer_wants(&sdk_contexts[context].buffers[BUFFER_KERNEL], DISPATCH_COMPLETE))
		buffer_write(context, BUFFER_KERNEL, record, sizeof(*record));
}

static void give_copy(unsigned context, struct copy_record *record, struct launch *launch)
{
	struct copy_data data = { sizeof(data),     record->start_ns,   record->end_ns,
				  record->to_agent, record->from_agent, record->bytes,
				  record->to,       record->from };
	struct service_event event = { .kind = CALLBACK_COPY,
				       .operation = record->operation,
				       .phase = PHASE_ENTER,
				       .payload = &data };

	record->external = external_of(launch, context);
	work_tell(context, &event, launch);
	event.phase = PHASE_EXIT;
	work_tell(context, &event, launch);
	if (buffer_wants(&sdk_contexts[context].buffers[BUFFER_COPY], (unsigned)record->operation))
		buffer_write(context, BUFFER_COPY, record, sizeof(*record));
}

static void report_kernel(const struct activity *activity, struct launch *launch)
{
	struct kernel_record record = {
		.size = sizeof(record),
		.kind = BUFFER_KERNEL,
		.operation = DISPATCH_COMPLETE,
		.internal = launch->internal,
		.thread = launch->thread,
		.start_ns = activity->begin_ns,
		.end_ns = activity->end_ns,
		.info = dispatch_describe(launch),
	};

	record.info.agent = agent_of_number((uint32_t)activity->device);
	record.info.queue.handle = (uint32_t)activity->queue + 1ull;
	if (activity->kernel)
		record.info.kernel = code_kernel(activity->kernel);
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) == CONTEXT_ACTIVE)
			give_kernel(i, &record, launch);
}

/* By the kind of HIP's copy command. */
static int direction_of(uint32_t kind)
{
	static const uint16_t from_device[] = { 0x11f3, 0x1201, 0x11f6 };
	static const uint16_t to_device[] = { 0x11f4, 0x1202, 0x11f7 };

	for (unsigned i = 0; i < ARRAY_SIZE(from_device); i++) {
		if (from_device[i] == kind)
			return DEVICE_TO_HOST;
		if (to_device[i] == kind)
			return HOST_TO_DEVICE;
	}
	return DEVICE_TO_DEVICE;
}

static void report_copy(const struct activity *activity, struct launch *launch)
{
	int direction = direction_of(activity->kind);
	uint32_t device = (uint32_t)activity->device;
	struct copy_record record = {
		.size = sizeof(record),
		.kind = BUFFER_COPY,
		.operation = direction,
		.internal = launch->internal,
		.thread = launch->thread,
		.start_ns = activity->begin_ns,
		.end_ns = activity->end_ns,
		.to_agent = agent_of_number(direction == DEVICE_TO_HOST ? 0 : device),
		.from_agent = agent_of_number(direction == HOST_TO_DEVICE ? 0 : device),
		.bytes = activity->bytes,
		.to = launch->to,
		.from = launch->from,
	};

	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) == CONTEXT_ACTIVE)
			give_copy(i, &record, launch);
}

static void activity_report(const struct activity *activity, uint32_t command)
{
	struct launch launch = { 0 };
	uint64_t queue = (uint64_t)(uint32_t)activity->device << 32 | (uint32_t)activity->queue;
	uint32_t token = question_take(command, queue + 1, &launch);

	if (!token)
		launch = (struct launch){ .internal = service_next_id(),
					  .dispatch = dispatch_next(),
					  .has_returned = true };
	if (command == COMMAND_KERNEL)
		report_kernel(activity, &launch);
	else
		report_copy(activity, &launch);
	if (!token || question_end(token, launch.internal))
		service_retire(launch.internal);
}

int work_on_activity(uint32_t domain, uint32_t command, void *data)
{
	int r = WANTED;

	if (domain != REPORT_OF_COMMANDS)
		return NOT_WANTED;
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (!data)
		r = question_answer(command);
	else if ((uint64_t)data >= LOWEST_ADDRESS && command < COMMANDS && is_wanted(command))
		activity_report(data, command);
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	return r;
}

bool work_end_call(uint64_t internal, bool has_failed)
{
	return questions_end_call(internal, has_failed);
}

bool work_is_inside(void)
{
	return __atomic_load_n(&inside, __ATOMIC_SEQ_CST);
}

void work_adopt(void)
{
	inside = 0;
	work_registration_adopt();
	questions_adopt();
}

bool work_is_needed(uint32_t tools)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) >= CONTEXT_STOPPED &&
		    tools >> sdk_contexts[i].tool & 1 &&
		    (context_wants(i, COMMAND_KERNEL) || context_wants(i, COMMAND_COPY)))
			return true;
	return false;
}
