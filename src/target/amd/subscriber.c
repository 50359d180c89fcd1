/*
 * Serves the tracer's session. Runs on its threads; in exit() on the application's.
 */
#include "target/amd/subscriber.h"

#include "target/amd/counters/counters.h"
#include "target/amd/counters/leaving.h"
#include "target/amd/counters/windows.h"
#include "target/amd/devices/devices.h"
#include "target/amd/engine.h"
#include "target/amd/events/notes.h"
#include "target/amd/hip/ring.h"
#include "target/amd/hsa/agents.h"
#include "target/amd/hsa/memory.h"
#include "target/amd/hsa/tracing/tracing.h"
#include "target/amd/life.h"
#include "target/amd/policy.h"
#include "target/amd/registry.h"
#include "target/amd/sinks/sdk/counters/dispatch/results.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/read.h"
#include "target/hooks/clock.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/patience.h"
#include "target/runtime/text.h"

#define GLANCE_NS 5000000u
#define LIMIT_NS  2000000000ull

static struct amd_request session;
static bool has_code;            /* executables of this life were queried */
static uint32_t code_life;       /* which life */
static uint32_t counted_life;    /* the runtime's life plus one; 0: counters have not begun */
static uint32_t failed_life;     /* likewise, of the last failure to begin windows */
static const uint64_t *begun_in; /* the core table whose runtime was queried; NULL: none */

static bool ring_asks(enum trace_domain domain)
{
	return session.domains >> domain & 1;
}

static bool wants_work(void)
{
	return session.domains & (DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY) | DOMAIN_BIT(MEMORY) |
				  DOMAIN_BIT(SCRATCH) | DOMAIN_BIT(COUNTER) | DOMAIN_BIT(WINDOW));
}

static void engine_begin(const struct amd_sink *ring, const struct amd_request *request)
{
	session = *request;
	counters_use(request->counters);
	counted_life = failed_life = 0;
	has_code = false;
	begun_in = NULL;
	call_threads_ask(request->asks_number);
	policy_use_ring(&(struct policy_ring){ request->domains, request->announce });
	events_use_ring(ring);
}

/* Tells which tables are there, and begins HIP's reports. */
static void table_report(const struct agent_table *known, struct amd_report *report)
{
	uint64_t *entries;

	for (unsigned i = 0; i < API_TABLES; i++) {
		enum trace_domain domain = (enum trace_domain)api_tables[i].domain;

		if (!ring_asks(domain) || !table_read(known, &api_tables[i], &entries))
			continue;
		report->domains |= 1u << domain;
		session.cover(entries, domain);
	}
}

static void engine_look(struct amd_report *report)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);
	struct intercept_counts counts;

	intercept_install(&counts);
	report->hooked += policy_announce(&counts);
	report->unwritable += counts.unwritable;
	report->refused += counts.refused;
	for (uint32_t i = 0; i < count; i++)
		table_report(&tables[i], report);
	if (ring_asks(DOMAIN_SCRATCH) && scratch_is_seen())
		report->domains |= DOMAIN_BIT(SCRATCH);
	if (policy_has_hip() && (ring_asks(DOMAIN_KERNEL) || ring_asks(DOMAIN_COPY)))
		report->domains |= hip_ring_begin(ring_asks(DOMAIN_KERNEL), ring_asks(DOMAIN_COPY));
}

/* Says why devices cannot count, in the order of enum counting_fault. */
static void say_fault(enum counting_fault fault)
{
	static const uint8_t notes[] = {
		[COUNTING_NO_LIBRARY] = SAY_NO_AQLPROFILE,
		[COUNTING_NO_FUNCTIONS] = SAY_NO_COUNTER_FUNCTIONS,
		[COUNTING_NO_AGENT] = SAY_NO_COUNTER_AGENT,
		[COUNTING_NO_EVENT] = SAY_NO_COUNTER_EVENT,
		[COUNTING_NO_PACKETS] = SAY_NO_COUNTER_PACKETS,
		[COUNTING_TOO_MANY] = SAY_TOO_MANY_COUNTS,
		[COUNTING_NO_QUEUE] = SAY_NO_WINDOW_QUEUE,
		[COUNTING_TAKEN] = SAY_COUNTERS_TAKEN,
	};

	if (fault != COUNTING_FINE)
		events_say(notes[fault]);
}

/* Executables are queried once in a life of the runtime. */
static void code_begin(void)
{
	if (has_code && code_life == hsa_life())
		return;
	has_code = true;
	code_life = hsa_life();
	code_scan();
}

static struct hsa_wanted ring_wants_hsa(void)
{
	bool has_hip = policy_has_hip();

	return (struct hsa_wanted){ .kernels = !has_hip && ring_asks(DOMAIN_KERNEL),
				    .copies = !has_hip && ring_asks(DOMAIN_COPY),
				    .counters = ring_asks(DOMAIN_COUNTER) };
}

/* Bits of what is traced by packets and signals. */
static uint32_t packets_begin(void)
{
	struct hsa_wanted wanted = ring_wants_hsa();
	bool wants_any = wanted.kernels || wanted.copies || wanted.counters;

	if (!hsa_trace(USER_RING, ring_wants_hsa)) {
		events_say(SAY_NO_HSA_TIMES);
		return 0;
	}
	if (wants_any)
		code_begin();
	return (uint32_t)wanted.kernels << DOMAIN_KERNEL | (uint32_t)wanted.copies << DOMAIN_COPY |
	       (uint32_t)wanted.counters << DOMAIN_COUNTER;
}

/* Needs the runtime's agents. */
static uint32_t counters_follow(uint32_t seen)
{
	if (!(seen & DOMAIN_BIT(COUNTER)) || !agents_are_known())
		return seen & ~DOMAIN_BIT(COUNTER);
	if (counted_life != hsa_life() + 1)
		say_fault(counters_begin());
	counted_life = hsa_life() + 1;
	return counters_are_on() ? seen : seen & ~DOMAIN_BIT(COUNTER);
}

/* Begins again after a shutdown, if another user restarted the runtime. */
static uint32_t windows_follow(void)
{
	enum counting_fault fault;

	if (ring_asks(DOMAIN_WINDOW) && agents_are_known() && !windows_are_on() &&
	    failed_life != hsa_life() + 1) {
		fault = counters_begin_windows();
		say_fault(fault);
		failed_life = fault ? hsa_life() + 1 : 0;
	}
	return windows_are_on() ? DOMAIN_BIT(WINDOW) : 0;
}

/* With HSA's library held. */
static void hsa_ask(const struct agent_table *known, struct amd_report *report)
{
	uint64_t *entries;
	uint32_t seen = 0;

	if (!table_read(known, &api_tables[API_HSA_CORE], &entries) ||
	    !table_read_part(known, 1, &(uint64_t *){ NULL }))
		return;
	report->domains |= session.domains & DOMAIN_BIT(MEMORY);
	(void)agents_ask();
	if (ring_asks(DOMAIN_KERNEL) || ring_asks(DOMAIN_COPY) || ring_asks(DOMAIN_COUNTER))
		seen = packets_begin();
	begun_in = entries;
	if (!hsa_gate_enter())
		return;
	report->domains |= counters_follow(seen) | windows_follow();
	hsa_gate_leave();
}

static void engine_ask(struct amd_report *report)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);

	if (!wants_work())
		return;
	for (uint32_t i = 0; i < count; i++) {
		void *library = text_equal(tables[i].name, "hsa")
					? libc_hold((const void *)tables[i].parts[0])
					: NULL;

		if (!library)
			continue;
		hsa_ask(&tables[i], report);
		libc_close(library);
	}
}

/* Says notes about uncounted kernels, by reason. */
static void say_skipped(const struct counters_left *counters, struct amd_left *left)
{
	static const uint8_t notes[COUNTER_SKIPS] = {
		[SKIP_GROUP] = SAY_SKIPPED_GROUP,
		[SKIP_SINGLE] = SAY_SKIPPED_SINGLE,
		[SKIP_FULL] = SAY_SKIPPED_FULL,
		[SKIP_SETS] = SAY_SKIPPED_FULL,
	};

	for (unsigned i = 0; i < COUNTER_SKIPS; i++) {
		if (counters->skipped[i])
			events_say(notes[i]);
		left->uncounted += counters->skipped[i];
	}
	left->cut += counters->cut;
}

/* False: the runtime was shut down, or its start takes too long. */
static bool runtime_enter(void)
{
	struct patience patience = { 0, 0 };

	while (!hsa_life_is_over()) {
		if (hsa_gate_enter())
			return true;
		if (!patience_pause(&patience, GLANCE_NS, LIMIT_NS))
			return false;
	}
	return false;
}

/* The library may have been unloaded, or the runtime shut down: then all is dropped. */
static void made_free(void)
{
	void *library = begun_in ? libc_hold(begun_in) : NULL;

	if (library && runtime_enter()) {
		windows_end();
		if (counters_give_back())
			hsa_trace_free();
		else
			hsa_trace_forget();
		hsa_gate_leave();
	} else {
		counters_forget();
		hsa_trace_forget();
	}
	if (library)
		libc_close(library);
}

static void engine_stop(struct amd_left *left)
{
	struct hsa_left packets;
	struct counters_left counters;

	counters_stop();
	packets = hsa_trace_end(USER_RING);
	for (struct patience patience = { 0, 0 };
	     counters_under_way() && patience_pause(&patience, GLANCE_NS, LIMIT_NS);)
		;
	counters = counters_end();
	left->cut = packets.cut;
	left->unseen = packets.unseen;
	left->lost = packets.lost;
	made_free();
	if (windows_late())
		events_say(SAY_WINDOWS_LATE);
	left->cut += hip_ring_end();
	say_skipped(&counters, left);
}

static void engine_restore(struct amd_left *left)
{
	struct intercept_counts counts;

	policy_use_ring(&(struct policy_ring){ 0, NULL });
	intercept_install(&counts);
	left->restored = counts.restored;
	left->foreign = counts.foreign;
	left->unwritable = counts.unwritable;
	events_use_ring(NULL);
	call_threads_ask(false);
	session.domains = 0;
}

void subscriber_adopt(void)
{
	session.domains = 0;
	policy_use_ring(&(struct policy_ring){ 0, NULL });
	events_use_ring(NULL);
	counters_forget_parent();
	hsa_trace_adopt();
}

/* Executables that are loaded from now on have names only if their agents are known. limpet's
 * thread queries devices after it has answered: so it is consulted twice. */
void subscriber_hsa_came(void)
{
	for (unsigned i = 0; i < 2 && wants_work() && !agents_are_known(); i++)
		events_consult();
}

static void engine_finish(void)
{
	hsa_trace_finish();
	leaving_all();
}

static void engine_forbid_counter(void)
{
	__atomic_store_n(&clock_is_forbidden, 1, __ATOMIC_SEQ_CST);
}

/* The table may be known: then its runtime has begun again. */
static void engine_registered(const char *name, uint64_t version, void **parts, uint64_t part_count)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);

	for (uint32_t i = 0; i < count; i++)
		if (part_count && tables[i].parts[0] == (uint64_t)parts[0] &&
		    text_equal(tables[i].name, name))
			life_registered(&tables[i]);
	if (!tables_note(name, version, 0, parts, part_count))
		events_consult();
}

static const struct amd_engine engine = {
	.size = sizeof(engine),
	.dispatches = &events_dispatches.value,
	.slots = call_slots,
	.begin = engine_begin,
	.look = engine_look,
	.ask = engine_ask,
	.tick = windows_tick,
	.stop = engine_stop,
	.restore = engine_restore,
	.finish = engine_finish,
	.give_up = leaving_program,
	.forbid_counter = engine_forbid_counter,
	.registered = engine_registered,
	.describe = device_describe,
};

/* Tools that have stopped counting must not keep the counters. */
__attribute__((visibility("default"))) const struct amd_engine *limpet_agent_amd(uint32_t size)
{
	dispatch_results_give_back();
	return size == sizeof(engine) ? &engine : NULL;
}
