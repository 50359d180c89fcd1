/*
 * Runs on application threads, before or after their HSA calls.
 */
#include "target/amd/tables/restart.h"

#include "target/amd/counters/device_queue.h"
#include "target/amd/sinks/sdk/counters/device_counting.h"
#include "target/amd/sinks/sdk/counters/dispatch/results.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/watch.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#define CORE_SYSTEM_INFO 2u
#define NOT_INITIALIZED  0x100b

typedef int system_info(uint32_t what, void *ret);

static void runtime_forget(void)
{
	device_queues_end_life();
	agents_forget_hsa();
	code_forget_hsa();
}

void restart_registered(const struct agent_table *table)
{
	if (text_equal(table->name, "hsa"))
		runtime_forget();
}

/* Also false while another thread may be shutting the runtime down; that thread then detects it. */
static bool runtime_is_over(const struct agent_table *table)
{
	const struct api_table *core = &api_tables[0];
	uint16_t version;
	uint64_t *slots;
	bool is_over;

	if (intercept_read(table, core, &slots) <= CORE_SYSTEM_INFO || !hsa_gate_enter_alone())
		return false;
	is_over = ((system_info *)intercept_original(core, CORE_SYSTEM_INFO, slots))(0, &version) ==
		  NOT_INITIALIZED;
	hsa_gate_leave();
	return is_over;
}

void restart_begin(void)
{
	hsa_gate_clear();
}

void restart_adopt(void)
{
	hsa_gate_forget();
}

void restart_before(struct sdk_frame *frame)
{
	frame->was_in = intercept_is_in(frame->slot);
	(void)hsa_gate_shut();
}

void restart_before_shut_down(struct sdk_frame *frame)
{
	dispatch_results_await();
	restart_before(frame);
	device_countings_end_queues();
}

/* Requests that were refused while the gate was shut are made now. */
static void gate_open(void)
{
	hsa_gate_open();
	code_catch_up();
	dispatch_results_wake();
}

void restart_after_init(struct sdk_frame *frame, uint64_t end)
{
	(void)frame, (void)end;
	gate_open();
}

static void runtime_look(const struct sdk_frame *frame)
{
	bool is_hidden = intercept_is_hidden(frame->slot);
	bool is_reset = frame->was_in && !is_hidden && !intercept_is_in(frame->slot);
	uint32_t count = __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count && (is_reset || is_hidden); i++) {
		const struct agent_table *table = &agent_page.tables[i];

		if (!text_equal(table->name, "hsa") || (is_hidden && !runtime_is_over(table)))
			continue;
		runtime_forget();
		intercept_add(table);
		return;
	}
}

/* Only the last of several hsa_shut_down() calls ends the runtime, which first resets its tables:
 * calls are unseen until stubs are installed again. Queries it only if another tool hides a
 * reset. */
void restart_after_shut_down(struct sdk_frame *frame, uint64_t end)
{
	(void)end;
	runtime_look(frame);
	gate_open();
}
