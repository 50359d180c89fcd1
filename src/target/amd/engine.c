/*
 * Connects contexts, buffers and tables to the lifecycle of tools.
 */
#include "target/amd/engine.h"

#include "target/amd/counters/packet_sets.h"
#include "target/amd/events/events.h"
#include "target/amd/events/moments.h"
#include "target/amd/hip/activity.h"
#include "target/amd/hip/registration.h"
#include "target/amd/hip/ring.h"
#include "target/amd/hsa/agents.h"
#include "target/amd/hsa/functions.h"
#include "target/amd/hsa/signals.h"
#include "target/amd/hsa/tracing/tracing.h"
#include "target/amd/life.h"
#include "target/amd/policy.h"
#include "target/amd/registry.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/calls/ranges.h"
#include "target/amd/sinks/sdk/counters/configs.h"
#include "target/amd/sinks/sdk/counters/definitions.h"
#include "target/amd/sinks/sdk/counters/device_counting.h"
#include "target/amd/sinks/sdk/counters/device_service.h"
#include "target/amd/sinks/sdk/counters/dispatch/engine.h"
#include "target/amd/sinks/sdk/counters/dispatch/results.h"
#include "target/amd/sinks/sdk/counters/dispatch/service.h"
#include "target/amd/sinks/sdk/counters/info.h"
#include "target/amd/sinks/sdk/counters/store.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/sinks/sdk/devices/work.h"
#include "target/amd/sinks/sdk/devices/work_records.h"
#include "target/amd/sinks/sdk/notify.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/amd/subscriber.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/threads.h"
#include "target/amd/watches.h"
#include "target/hooks/clock.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#define REST_NS  2000000000ull
#define DRAIN_NS 5000000000ull

static uint32_t ready_tools; /* bits: attached tools */
static bool is_prepared;

static bool needs_code(const struct sdk_context *context)
{
	return context->callbacks[CALLBACK_CODE_OBJECT].callback || context->counts_kernels;
}

/* Code objects loaded before a context was started are reported when it starts. */
static void notify_code(uint64_t active)
{
	uint64_t wanted = 0;

	for (unsigned i = 0; i < contexts_used; i++)
		if (active >> i & 1 && needs_code(&sdk_contexts[i]))
			wanted |= 1ull << i;
	if (!wanted)
		return;
	code_scan();
	code_notify(wanted);
}

/* Kernels and copies of programs that use HSA without HIP are traced by packets and signals. */
static struct hsa_wanted tools_want(void)
{
	bool has_hip = policy_has_hip();

	return (struct hsa_wanted){ .kernels = !has_hip && events_tools_want(DOMAIN_KERNEL),
				    .copies = !has_hip && events_tools_want(DOMAIN_COPY) };
}

static void tools_trace_hsa(void)
{
	(void)hsa_trace(USER_TOOLS, tools_want);
}

/* While HSA's end is still seen: what was made is of this life of it. */
static void tools_free_hsa(void)
{
	struct hsa_library library = { 0 };

	if (!hsa_trace_is_left())
		return;
	if (hsa_library_hold(&library) && hsa_gate_enter()) {
		hsa_trace_free();
		hsa_gate_leave();
	} else {
		hsa_trace_forget();
	}
	hsa_library_leave(&library);
}

static void on_change(int forgotten)
{
	uint64_t active = 0;

	for (unsigned i = 0; i < contexts_used; i++) {
		if (forgotten >= 0 && sdk_contexts[i].tool == forgotten) {
			external_forget(i);
			code_forget(i);
		}
		if (context_state(&sdk_contexts[i]) == CONTEXT_ACTIVE)
			active |= 1ull << i;
	}
	if (forgotten >= 0) {
		dispatch_services_forget(forgotten);
		configs_disown(forgotten);
	}
	tools_trace_hsa();
	intercept_update();
	device_services_follow();
	notify_code(active);
	dispatch_engine_follow();
	if (!active)
		ranges_forget();
}

static int on_start(unsigned context)
{
	int r = device_services_begin(context);

	return r ? r : dispatch_engine_start(context);
}

static bool may_want(enum trace_domain domain)
{
	uint32_t tools = __atomic_load_n(&ready_tools, __ATOMIC_SEQ_CST);

	for (unsigned i = 0; i < contexts_used; i++)
		if (context_state(&sdk_contexts[i]) >= CONTEXT_STOPPED &&
		    tools >> sdk_contexts[i].tool & 1 &&
		    work_is_wanted_by(&sdk_contexts[i], domain))
			return true;
	return false;
}

static const struct amd_sink tools_sink = {
	.size = sizeof(tools_sink),
	.wants = work_is_wanted,
	.may_want = may_want,
	.launch = work_launch,
	.hip_came = dispatch_learn,
	.kernel = work_kernel_done,
	.copy = work_copy_done,
	.memory = work_memory,
	.scratch = work_scratch,
};

static const struct delivery_work delivery_work = {
	.results = dispatch_results_deliver,
	.buffers = buffers_deliver,
	.buffers_wait = buffers_wait,
	.notify = notify_thread,
};

static void engine_hsa_came(void)
{
	tools_trace_hsa();
	subscriber_hsa_came();
}

bool sdk_prepare(const struct boot_libc *libc)
{
	delivery_learn(libc);
	if (!call_threads_open(libc))
		return false;
	clock_check();
	if (!is_prepared)
		clock_start();
	is_prepared = true;
	watches_start();
	policy_start();
	events_use_tools(&tools_sink);
	delivery_prepare(&delivery_work);
	device_countings_before_end(dispatch_results_finish);
	life_prepare(engine_hsa_came);
	__atomic_store_n(&contexts_on_start, on_start, __ATOMIC_RELEASE);
	__atomic_store_n(&contexts_on_change, on_change, __ATOMIC_RELEASE);
	return true;
}

/* Tools see tables before limpet changes them: originals that a tool keeps are the runtime's. */
void sdk_tool_ready(int tool)
{
	uint32_t tools = __atomic_or_fetch(&ready_tools, 1u << tool, __ATOMIC_SEQ_CST);
	struct telling known = { 0 };

	if (tools == 1u << tool)
		life_begin();
	dispatch_services_hush(tool, false);
	delivery_restart(tool);
	telling_hold(&known, notify_table);
	policy_use_tools(tools);
	tools_trace_hsa();
	intercept_install(NULL);
	hip_follow();
	/* Contexts may have been started before the stubs were installed. */
	device_services_follow();
	dispatch_engine_follow();
	telling_release(&known);
}

unsigned sdk_tool_rest(int tool)
{
	unsigned inside;

	if (!is_prepared)
		return 0;
	intercept_update();
	dispatch_results_drain(tool, REST_NS);
	dispatch_services_hush(tool, true);
	inside = call_threads_await((unsigned)tool, REST_NS);
	buffers_drain(tool, DRAIN_NS);
	return inside;
}

void sdk_tool_leave(int tool)
{
	uint32_t tools = __atomic_and_fetch(&ready_tools, ~(1u << tool), __ATOMIC_SEQ_CST);

	if (!is_prepared)
		return;
	(void)delivery_stop(tool);
	policy_use_tools(tools);
	tools_trace_hsa();
	tools_free_hsa();
	intercept_install(NULL);
	hip_follow();
}

void sdk_tool_forget(int tool)
{
	notify_forget(tool);
	if (is_prepared)
		(void)call_threads_await((unsigned)tool, REST_NS);
	(void)delivery_stop(tool);
	buffers_forget(tool);
	delivery_forget(tool);
}

/* The SDK's number of a runtime; 0: not one of its runtimes. */
static int runtime_of(const char *name)
{
	static const char *const names[] = { "",     "hsa",       "hip",    "roctx",
					     "rccl", "rocdecode", "rocjpeg" };

	for (unsigned i = 1; i < ARRAY_SIZE(names); i++)
		if (text_equal(names[i], name))
			return (int)i;
	return 0;
}

static void notify_runtime(unsigned context, const struct agent_table *table, int runtime)
{
	struct runtime_data data = { sizeof(data), table->version, table->instance };
	struct service_event event = { .kind = CALLBACK_RUNTIME,
				       .operation = runtime,
				       .phase = PHASE_NONE,
				       .payload = &data,
				       .internal = tools_next_id() };
	struct runtime_record record = { .size = sizeof(record),
					 .kind = BUFFER_RUNTIME,
					 .operation = runtime,
					 .correlation = { event.internal, 0, 0 },
					 .thread = (uint64_t)call_thread_number(),
					 .time_ns = moment_now(),
					 .version = table->version,
					 .instance = table->instance };
	uint64_t user_data = 0;

	if (sdk_contexts[context].callbacks[CALLBACK_RUNTIME].callback)
		service_notify(context, &event, &user_data);
	if (sdk_contexts[context].buffers[BUFFER_RUNTIME].buffer.handle)
		buffer_write(context, BUFFER_RUNTIME, &record, sizeof(record));
}

static void notify_runtimes(const struct agent_table *table)
{
	int runtime = runtime_of(table->name);

	const struct sdk_context *context;
	unsigned next = 0;

	while (runtime && (context = context_next(&next)))
		notify_runtime(context_number(context), table, runtime);
}

bool sdk_has_tools(void)
{
	return __atomic_load_n(&ready_tools, __ATOMIC_SEQ_CST);
}

void sdk_table_came(unsigned index, bool has_restarted)
{
	/* A forked child has a copy of its parent's tools, but none is attached to it. */
	if (!sdk_has_tools() || !page_is_own())
		return;
	notify_table(index);
	if (has_restarted)
		life_registered(&agent_page.tables[index]);
	tools_trace_hsa();
	intercept_add(&agent_page.tables[index]);
	hip_follow();
	notify_runtimes(&agent_page.tables[index]);
}

const char *sdk_tool_hindrance(int tool)
{
	if (notify_has_shown(tool))
		return "it was shown API tables, and may have functions in them";
	if (is_prepared && call_threads_await((unsigned)tool, 0))
		return "a thread of the target is in one of its callbacks";
	return NULL;
}

const char *sdk_hindrance(void)
{
	if (packet_sets_were_made())
		return "the agent itself: AMD's aqlprofile library calls it when the program ends";
	if (device_countings_exit_is_watched())
		return "the agent itself: exit() calls it, since a tool has asked for counters";
	if (intercept_left())
		return "the agent itself: another tool's functions in API tables lead to it";
	if (hip_is_registered())
		return "the agent itself: HIP has a function of it";
	if (hip_is_inside())
		return "the agent itself: a thread of HIP's is in it";
	if (hsa_signals_have_handlers())
		return "the agent itself: HSA has a handler of it";
	if (delivery_threads())
		return "the agent itself: a thread that delivers records has not ended";
	for (unsigned i = 0; is_prepared && i < AGENT_TOOLS_MAX; i++)
		if (call_threads_await(i, 0))
			return "the agent itself: a thread of the target is in a tool's callback";
	return NULL;
}

void sdk_release_counters(void)
{
	if (!counters_enter())
		return;
	counters_release();
	definitions_forget();
	counters_leave();
}

void sdk_close(void)
{
	definitions_forget();
	configs_forget();
	info_forget();
	counters_close();
	call_threads_close();
	external_close();
}

unsigned sdk_own_threads(void)
{
	return delivery_threads();
}

void sdk_adopt(void)
{
	ready_tools = 0;
	intercept_adopt();
	delivery_adopt();
	buffers_adopt();
	call_threads_adopt();
	work_adopt();
	hip_adopt();
	life_adopt();
	subscriber_adopt();
	code_adopt();
	agents_adopt();
	tool_agents_adopt();
	tables_adopt();
	external_adopt();
	moments_adopt();
	contexts_adopt();
	counters_adopt();
	device_services_adopt();
	dispatch_engine_adopt();
	dispatch_results_adopt();
}
