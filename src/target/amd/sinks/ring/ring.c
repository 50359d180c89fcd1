/*
 * Starts and stops tracing of AMD's runtimes. Runs on limpet's threads.
 */
#include "target/amd/sinks/ring/ring.h"

#include "target/amd/events/notes.h"
#include "target/hooks/wants.h"
#include "target/hooks/work.h"
#include "target/hooks/writer.h"

static const struct amd_engine *engine;
static void (*consult_watch)(void);

void ring_use_engine(const struct amd_engine *used, void (*consult)(void))
{
	engine = used;
	consult_watch = consult;
}

static void note_print(unsigned note)
{
	note_raise(&amd_notes[note]);
}

/* limpet's threads have no writer, and are not waited for. */
static void watch_consult(void)
{
	if (writer_mine())
		consult_watch();
}

static const struct amd_sink sink = {
	.size = sizeof(sink),
	.wants = ring_wants,
	.kernel = record_kernel,
	.copy = record_copy,
	.memory = record_memory,
	.scratch = record_scratch,
	.call = calls_write,
	.counted = record_counted,
	.window = record_window,
	.stream_end = record_stream_end,
	.name = record_name,
	.say = note_print,
	.consult = watch_consult,
	.lose = writer_count_lost,
};

static void table_cover(const uint64_t *entries, enum trace_domain domain)
{
	got_cover((uint64_t)entries, domain);
}

static bool amd_start(const struct trace_request *request)
{
	static const enum trace_domain work[] = { DOMAIN_KERNEL,  DOMAIN_COPY,    DOMAIN_MEMORY,
						  DOMAIN_SCRATCH, DOMAIN_COUNTER, DOMAIN_WINDOW };
	static struct counter_request counters;
	bool fits = !request_wants(request, DOMAINS_TABLES) || wants_add(&amd_registration);
	uint32_t domains = 0;

	for (unsigned i = 0; i < DOMAINS; i++)
		domains |= (uint32_t)request->is_wanted[i] << i;
	ring_use_domains(domains);
	imports_start(request, engine);
	counter_request_read(request, &counters);
	for (unsigned i = 0; i < ARRAY_SIZE(work); i++)
		if (ring_wants(work[i]))
			fits &= work_start(work[i]);
	if (!engine)
		return fits;
	calls_start(engine);
	records_start(engine);
	engine->begin(&sink, &(struct amd_request){ domains, request->asks_number, &counters,
						    calls_announce, table_cover });
	return fits;
}

static void report_add(const struct amd_report *from, struct hooks_report *report)
{
	report->hooked += from->hooked;
	report->unwritable += from->unwritable;
	report->refused += from->refused;
	report->domains |= from->domains;
}

static void amd_scan(bool have_modules_changed, struct hooks_report *report)
{
	struct amd_report found = { 0 };

	/* The agent may learn of tables at any time. */
	if (!have_modules_changed)
		got_update_modules();
	if (engine)
		engine->look(&found);
	report_add(&found, report);
}

static void amd_query(struct hooks_report *report)
{
	struct amd_report found = { 0 };

	if (!engine)
		return;
	engine->ask(&found);
	records_name_devices(engine);
	report_add(&found, report);
}

static uint64_t amd_tick(uint64_t now_ns)
{
	return engine ? engine->tick(now_ns) : UINT64_MAX;
}

static void amd_stop(struct rings *rings)
{
	struct amd_left left = { 0 };

	if (!engine)
		return;
	engine->stop(&left);
	engine->restore(&left);
	rings->words_restored += left.restored;
	rings->words_foreign += left.foreign;
	rings->words_unwritable += left.unwritable;
	rings->work_cut += left.cut;
	rings->work_unseen += left.unseen;
	rings->work_lost += left.lost;
	rings->work_uncounted += left.uncounted;
	engine = NULL;
}

static void amd_exit_begin(void)
{
	if (engine)
		engine->finish();
}

static void amd_exit_end(void)
{
	if (engine)
		engine->give_up();
}

/* The child's agent forgets the session itself. */
static void amd_forget(void)
{
	engine = NULL;
}

const struct runtime runtime_amd = {
	.name = "amd",
	.hooks = amd_hooks,
	.hook_count = AMD_HOOKS,
	.notes = amd_notes,
	.note_count = AMD_NOTES,
	.numbers = { 0, WORK_NUMBERS },
	.start = amd_start,
	.scan = amd_scan,
	.query = amd_query,
	.tick = amd_tick,
	.stop = amd_stop,
	.exit_begin = amd_exit_begin,
	.exit_end = amd_exit_end,
	.forget = amd_forget,
};
