/*
 * Runs on application threads, around their calls of hsa_init() and hsa_shut_down().
 */
#include "target/amd/life.h"

#include "target/amd/counters/counters.h"
#include "target/amd/counters/leaving.h"
#include "target/amd/counters/windows.h"
#include "target/amd/events/events.h"
#include "target/amd/hsa/agents.h"
#include "target/amd/hsa/tracing/tracing.h"
#include "target/amd/sinks/sdk/counters/device_counting.h"
#include "target/amd/sinks/sdk/counters/device_queue.h"
#include "target/amd/sinks/sdk/counters/dispatch/results.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/read.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/text.h"

#define NOT_INITIALIZED 0x100b

/* Indices of call_frame.kept. */
enum { LIFE, CLEARS, RESETS };

typedef int system_info(uint32_t what, void *ret);

static uint64_t clears; /* of the gate: an earlier shutdown does not open it */

static void (*after_begin)(void);

void life_prepare(void (*work)(void))
{
	after_begin = work;
}

static void runtime_forget(void)
{
	device_queues_end_life();
	leaving_give_up();
	hsa_trace_forget_runtime();
	agents_forget();
	counters_forget();
	code_forget_hsa();
}

void life_begin(void)
{
	__atomic_add_fetch(&clears, 1, __ATOMIC_SEQ_CST);
	hsa_gate_clear();
	hsa_life_begin();
	/* The runtime may have been shut down meanwhile, and have begun again. */
	agents_forget();
}

void life_adopt(void)
{
	hsa_gate_forget();
}

void life_registered(const struct agent_table *table)
{
	if (!text_equal(table->name, "hsa"))
		return;
	runtime_forget();
	hsa_life_begin();
}

void life_before_init(struct call_frame *frame)
{
	frame->was_in = !intercept_is_out(frame->slot);
	frame->kept[CLEARS] = __atomic_load_n(&clears, __ATOMIC_SEQ_CST);
	frame->kept[LIFE] = hsa_gate_shut();
	frame->kept[RESETS] = intercept_resets(frame->slot);
}

/* Handlers of signals may not be called any more after this. Destroys limpet's queues first: it is
 * unknown whether this is the last call. */
void life_before_shut_down(struct call_frame *frame)
{
	hsa_trace_finish();
	leaving_all();
	dispatch_results_await();
	life_before_init(frame);
	device_countings_end_queues();
	if (windows_are_on() && hsa_gate_enter_alone()) {
		windows_end();
		hsa_gate_leave();
	}
}

/* Requests that were refused while the gate was shut are made now. */
static void gate_open(const struct call_frame *frame)
{
	if (frame->kept[CLEARS] != __atomic_load_n(&clears, __ATOMIC_SEQ_CST))
		return;
	hsa_gate_open();
	code_catch_up();
	dispatch_results_wake();
}

/* A runtime that registers its tables has already begun again. Executables loaded from now on get
 * names only if their agents are known. */
void life_after_init(struct call_frame *frame, uint64_t end)
{
	(void)end;
	if (!call_has_failed(frame) && hsa_life_begin_again())
		runtime_forget();
	gate_open(frame);
	if (!call_has_failed(frame))
		after_begin();
}

/* Also false while another thread may be shutting the runtime down; that thread then detects it. */
static bool runtime_is_over(const struct agent_table *known)
{
	system_info *ask =
		(system_info *)table_find_function(known, API_HSA_CORE, "hsa_system_get_info");
	uint16_t version;
	bool is_over;

	if (!ask || !hsa_gate_enter_alone())
		return false;
	is_over = ask(0, &version) == NOT_INITIALIZED;
	hsa_gate_leave();
	return is_over;
}

/* The known table with the entry of the call; NULL: it is not known any more. */
static const struct agent_table *table_of(const struct call_frame *frame)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);
	uint64_t *entries;

	for (uint32_t i = 0; i < count; i++)
		if (table_read(&tables[i], &api_tables[API_HSA_CORE], &entries) &&
		    &entries[frame->slot->operation] == frame->slot->entry)
			return &tables[i];
	return NULL;
}

/* Only the last of several calls shuts the runtime down, and resets its tables first; limpet may
 * have put its stub again since. The runtime is queried only where another tool may hide a reset: a
 * thread whose call limpet does not see may be shutting it down, and it must not be called then. */
static bool was_last(const struct call_frame *frame, const struct agent_table *known)
{
	bool is_out = intercept_is_out(frame->slot);

	if (frame->was_in && (is_out || intercept_resets(frame->slot) != frame->kept[RESETS]))
		return true;
	return intercept_is_hidden(frame->slot) && runtime_is_over(known);
}

void life_after_shut_down(struct call_frame *frame, uint64_t end)
{
	const struct agent_table *known = call_has_failed(frame) ? NULL : table_of(frame);
	bool is_last = known && was_last(frame, known) && hsa_life_end((uint32_t)frame->kept[LIFE]);

	(void)end;
	if (is_last) {
		runtime_forget();
		intercept_add(known);
	}
	gate_open(frame);
	/* The runtime has reset its tables. */
	if (is_last)
		events_consult();
}
