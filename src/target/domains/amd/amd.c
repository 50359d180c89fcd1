/*
 * Starts and stops tracing of AMD's runtimes.
 */
#include "target/domains/amd/amd.h"

#include "shared/wire/page.h"
#include "target/domains/amd/counters/counters.h"
#include "target/domains/amd/counters/leaving.h"
#include "target/domains/amd/counters/windows.h"
#include "target/domains/amd/hip/activity.h"
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/hsa/life.h"
#include "target/domains/amd/hsa/work.h"
#include "target/domains/amd/notes.h"
#include "target/domains/amd/registrations.h"
#include "target/domains/amd/slots.h"
#include "target/domains/amd/tables.h"
#include "target/domains/amd/wants.h"
#include "target/domains/work.h"
#include "target/hooks/wants.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/text.h"

static const enum trace_domain work[] = { DOMAIN_KERNEL,  DOMAIN_COPY,    DOMAIN_MEMORY,
					  DOMAIN_SCRATCH, DOMAIN_COUNTER, DOMAIN_WINDOW };
static uint32_t counted_life; /* the runtime's life plus one; 0: counters have not begun */
static uint32_t failed_life;  /* likewise, of the last failure to begin windows */

static bool amd_start(const struct trace_request *request)
{
	bool fits = !request_wants(request, DOMAINS_TABLES) || wants_add(&registration);

	amd_wants_start(request);
	counters_start(request);
	counted_life = failed_life = 0;
	hsa_life_start();
	for (unsigned i = 0; i < ARRAY_SIZE(work); i++)
		if (amd_wants(work[i]))
			fits &= work_start(work[i]);
	return fits;
}

/* Says why devices cannot count, in the order of enum counting_fault. */
static void say_fault(enum counting_fault fault)
{
	static const enum amd_note notes[] = {
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
		note_say(&amd_notes[notes[fault]]);
}

/* Needs the runtime's agents and functions. */
static uint32_t begin_counters(uint32_t seen)
{
	if (!(seen & DOMAIN_BIT(COUNTER)) || !agents_are_known())
		return seen & ~DOMAIN_BIT(COUNTER);
	if (counted_life != hsa_life() + 1)
		say_fault(counters_begin());
	counted_life = hsa_life() + 1;
	return counters_are_on() ? seen : seen & ~DOMAIN_BIT(COUNTER);
}

/* Begins again after a shutdown, if another user restarted the runtime. */
static uint32_t begin_windows(uint32_t seen)
{
	enum counting_fault fault;

	if (seen & DOMAIN_BIT(WINDOW) && agents_are_known() && !windows_are_on() &&
	    failed_life != hsa_life() + 1) {
		fault = counters_begin_windows();
		say_fault(fault);
		failed_life = fault ? hsa_life() + 1 : 0;
	}
	return windows_are_on() ? seen : seen & ~DOMAIN_BIT(WINDOW);
}

/* HIP's reports contain more, and HIP programs also use HSA: HSA is traced only without HIP. */
static uint32_t begin_hsa_work(const struct hsa_slots *core, const struct hsa_slots *amd_ext)
{
	bool has_hip = tables_have("hip");
	struct hsa_wanted wanted = { .kernels = !has_hip && amd_wants(DOMAIN_KERNEL),
				     .copies = !has_hip && amd_wants(DOMAIN_COPY),
				     .counters = amd_wants(DOMAIN_COUNTER),
				     .windows = amd_wants(DOMAIN_WINDOW) };
	uint32_t seen;

	if (has_hip)
		hsa_work_leave_to_hip();
	if (!wanted.kernels && !wanted.copies && !wanted.counters && !wanted.windows)
		return 0;
	seen = hsa_work_begin(core, amd_ext, &wanted);
	if (!seen)
		note_say(&amd_notes[SAY_NO_HSA_TIMES]);
	return begin_windows(begin_counters(seen));
}

/* Runs under the loader's lock: HIP only stores the callback, and loads no module. */
static void begin_hip(const struct agent_table *known, struct got_report *report)
{
	struct live_table table;

	if (tables_hip(known, &table))
		report->domains |= activity_begin(table.slots, &hip_lists[0],
						  amd_wants(DOMAIN_KERNEL), amd_wants(DOMAIN_COPY));
}

/* Calls the runtime's functions, which may load modules. */
static void ask_hsa(const struct agent_table *known, struct got_report *report)
{
	struct live_table parts[2];
	struct hsa_slots slots[2];

	if (!text_equal(known->name, "hsa") || !tables_hsa_part(known, 0, &parts[0]) ||
	    !tables_hsa_part(known, 1, &parts[1]))
		return;
	for (unsigned i = 0; i < 2; i++)
		slots[i] = (struct hsa_slots){ parts[i].slots, parts[i].count, &hsa_lists[i] };
	report->domains |= (uint32_t)amd_wants(DOMAIN_MEMORY) << DOMAIN_MEMORY;
	hsa_life_learn(known->parts[0], &slots[0]);
	if (!hsa_gate_enter())
		return;
	agents_ask(parts[0].slots, parts[0].count, parts[1].slots, parts[1].count);
	report->domains |= begin_hsa_work(&slots[0], &slots[1]);
	hsa_gate_leave();
}

static void amd_look(bool have_modules_changed, struct got_report *report)
{
	tables_look(have_modules_changed, report);
	if (amd_wants_work())
		tables_each(begin_hip, report);
}

static void amd_ask_devices(struct got_report *report)
{
	if (amd_wants_work())
		tables_each(ask_hsa, report);
}

/* Says notes about uncounted kernels, by reason. */
static void say_skipped(struct rings *rings, const struct counters_left *left)
{
	static const enum amd_note notes[COUNTER_SKIPS] = {
		[SKIP_GROUP] = SAY_SKIPPED_GROUP,
		[SKIP_SINGLE] = SAY_SKIPPED_SINGLE,
		[SKIP_FULL] = SAY_SKIPPED_FULL,
		[SKIP_SETS] = SAY_SKIPPED_FULL,
	};

	for (unsigned i = 0; i < COUNTER_SKIPS; i++)
		if (left->skipped[i])
			note_say(&amd_notes[notes[i]]);
	for (unsigned i = 0; i < COUNTER_SKIPS; i++)
		rings->work_uncounted += left->skipped[i];
	rings->work_cut += left->cut;
}

/* Requests no more reports, and waits for requested reports while calls are still hooked. */
static void amd_stop(struct rings *rings)
{
	struct hsa_left left = hsa_work_end();

	if (windows_late())
		note_say(&amd_notes[SAY_WINDOWS_LATE]);
	rings->work_cut += activity_end() + left.cut;
	rings->work_unseen += left.unseen;
	rings->work_lost += left.lost;
	say_skipped(rings, &left.counters);
	tables_use(NULL);
}

static void amd_forget(void)
{
	activity_forget();
	hsa_work_forget();
	tables_use(NULL);
}

static const struct domain_hooks *const hooks[] = {
	&hooks_roctx,     &hooks_hip_runtime, &hooks_hip_compiler,  &hooks_hsa_core,
	&hooks_hsa_amd,   &hooks_hsa_image,   &hooks_hsa_finalizer, &hooks_rccl,
	&hooks_rocdecode, &hooks_rocjpeg,
};

const struct runtime runtime_amd = {
	.name = "amd",
	.hooks = hooks,
	.hook_count = ARRAY_SIZE(hooks),
	.notes = amd_notes,
	.note_count = AMD_NOTES,
	.numbers = { 0, WORK_NUMBERS },
	.start = amd_start,
	.look = amd_look,
	.ask = amd_ask_devices,
	.tick = windows_tick,
	.stop = amd_stop,
	.leave = hsa_work_leave,
	.give_up = leaving_program,
	.forget = amd_forget,
};
