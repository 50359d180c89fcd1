/*
 * limpet's own tracer, a tool library like any other: the lifecycle loads it, and calls it on the
 * runner's threads. It takes part only if a limpet host has provided memory for records.
 */
#include "limpet/tool.h"
#include "shared/arch/syscall.h"
#include "target/agent/rings.h"
#include "target/amd/sinks/ring/ring.h"
#include "target/hooks/clock.h"
#include "target/hooks/probe.h"
#include "target/hooks/python_stack.h"
#include "target/hooks/table.h"
#include "target/hooks/thread.h"
#include "target/hooks/wants.h"
#include "target/hooks/writer.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"
#include "target/tool/aside.h"
#include "target/tool/backend.h"
#include "target/tool/confine.h"
#include "target/tool/ending.h"
#include "target/tool/runtimes.h"
#include "target/tool/staying.h"
#include "target/tool/watch.h"

#include <errno.h>

/* Missing if another program than limpet has loaded this library. */
#pragma weak limpet_agent_amd
#pragma weak limpet_agent_rings
#pragma weak limpet_agent_is_own

static struct trace_request request;
static const struct amd_engine *engine; /* of the agent; NULL: none */
static int32_t installed_by;            /* the process whose entries are patched; 0: none */

/* The loader has run: the function that dlsym returns is about to be called. */
static const struct traced dlsym_call = { "dlsym", NULL, DOMAIN_FUNCTION, HOOK_NOTICE,
					  .value_count = 0 };
static bool has_opened; /* a module may have been loaded since the last dlsym */

static const struct note no_counter = {
	NOTE_END, 0,
	"the program has forbidden a thread of its own to read the machine's counter (strict seccomp "
	"or PR_SET_TSC): nothing was recorded from then on"
};

static const struct note asked_in_walk = {
	NOTE_END, 0,
	"limpet asked the loader something while it walked through its modules, and refused itself: "
	"functions may be missing.  This is a fault of limpet's, please report it"
};

static void on_change(const struct traced *traced, const uint64_t *arguments)
{
	if (confine_takes_counter(traced, arguments)) {
		__atomic_store_n(&clock_is_forbidden, 1, __ATOMIC_SEQ_CST);
		if (engine)
			engine->forbid_counter();
		note_raise(&no_counter);
	}
	if (!confine_is_change(traced, arguments))
		return;
	python_stacks_stop();
	probe_deny();
	aside_step();
}

static void on_notice(const struct traced *traced, const uint64_t *arguments)
{
	if (confine_is_opening(traced)) {
		__atomic_store_n(&has_opened, true, __ATOMIC_RELAXED);
		watch_hurry();
	} else if (traced != &dlsym_call) {
		on_change(traced, arguments);
	} else if (__atomic_exchange_n(&has_opened, false, __ATOMIC_RELAXED)) {
		watch_consult();
	}
}

static bool want_hooks(const struct domain_hooks *hooks)
{
	const struct traced *traced =
		hooks->sampled && request.alloc_sample ? hooks->sampled : hooks->traced;
	bool fits = true;

	for (size_t i = 0; i < hooks->traced_count; i++)
		if (traced[i].symbol)
			fits &= wants_add(&traced[i]);
	return (!hooks->start || hooks->start(&request)) && fits;
}

static bool want_runtime(const struct runtime *runtime)
{
	bool fits = true;

	for (size_t i = 0; i < runtime->hook_count; i++)
		if (request.is_wanted[runtime->hooks[i]->domain])
			fits &= want_hooks(runtime->hooks[i]);
	return fits;
}

static int tracer_want(void)
{
	bool fits = true;

	wants_clear();
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->start)
			fits &= runtimes[i]->start(&request);
	for (unsigned i = 0; i < RUNTIMES; i++)
		fits &= want_runtime(runtimes[i]);
	fits &= confine_want();
	if (request_wants(&request, DOMAINS_TABLES))
		fits &= wants_add(&dlsym_call);
	return fits ? 0 : -ENOSPC;
}

/* Modules come and go: stores the maximum. */
static void report_left(struct rings *rings, const struct hooks_report *report)
{
	if (report->left <= rings->words_left)
		return;
	if (report->left_function[0] && !rings->words_left) {
		text_add(rings->left_function, sizeof(rings->left_function), 0,
			 report->left_function);
		text_add(rings->left_module, sizeof(rings->left_module), 0, report->left_module);
	}
	/* Release: pairs with the host's read of the count; the names are stored. */
	__atomic_store_n(&rings->words_left, report->left, __ATOMIC_RELEASE);
}

static void add_report(const struct hooks_report *report)
{
	struct rings *rings = writers_rings();

	rings->words_hooked += report->hooked;
	rings->words_unwritable += report->unwritable;
	rings->words_refused += report->refused;
	rings->domains_found |= report->domains;
	report_left(rings, report);
}

/* Hooks what is not imported. */
static void scan_runtimes(bool have_modules_changed)
{
	struct hooks_report report = { 0 };

	aside_look();
	if (!ending_enter()) {
		watch_answer();
		return;
	}
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->scan)
			runtimes[i]->scan(have_modules_changed, &report);
	watch_answer();
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->query)
			runtimes[i]->query(&report);
	ending_leave();
	add_report(&report);
	if (have_modules_changed)
		ending_watch();
}

static uint64_t tick_runtimes(uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	if (!ending_enter())
		return due_ns;
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->tick)
			due_ns = MIN(due_ns, runtimes[i]->tick(now_ns));
	ending_leave();
	return due_ns;
}

static void restore_tables(void *left)
{
	table_restore(left);
}

static void restore_words(struct patches_left *left)
{
	got_restore(left);
	got_in_loader(restore_tables, left);
}

static void runtimes_exit_begin(void)
{
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->exit_begin)
			runtimes[i]->exit_begin();
}

static void runtimes_exit_end(void)
{
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->exit_end)
			runtimes[i]->exit_end();
}

static void stop_runtimes(struct rings *rings)
{
	if (!ending_enter())
		return;
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->stop)
			runtimes[i]->stop(rings);
	ending_leave();
}

static void drain_runtimes(struct rings *rings)
{
	if (!ending_enter())
		return;
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->drain)
			runtimes[i]->drain(rings);
	ending_leave();
}

static void report_end(struct rings *rings, const struct patches_left *left, bool is_quiet)
{
	rings->words_restored += left->restored;
	rings->words_foreign += left->foreign;
	rings->words_unwritable += left->unwritable;
	__atomic_store_n(&rings->tracer_threads, 0, __ATOMIC_RELAXED);
	/* Release: the agent unmaps memory that is not held. */
	__atomic_store_n(&rings->is_held, !is_quiet, __ATOMIC_RELEASE);
}

static void tracer_stop(void)
{
	struct rings *rings = writers_rings(); /* NULL: the start failed early */
	struct patches_left left = { 0 };
	bool is_quiet;

	hook_on_notice = NULL;
	watch_stop();
	if (rings)
		stop_runtimes(rings);
	restore_words(&left);
	staying_judge_words(&left);
	if (libc_refused())
		note_raise(&asked_in_walk);
	if (rings)
		drain_runtimes(rings);
	hooks_off();
	is_quiet = writers_close();
	probe_use(NULL);
	if (rings)
		report_end(rings, &left, is_quiet);
	writers_settle();
	got_close();
	patches_close();
	aside_end();
	ending_forget();
	installed_by = 0;
}

/* A forked child has its parent's patches, whose hooks record nothing. */
static void forget_parent(void)
{
	struct patches_left left = { 0 };

	if (!installed_by)
		return;
	watch_forget();
	ending_adopt();
	writers_forget();
	probe_use(NULL);
	for (unsigned i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->forget)
			runtimes[i]->forget();
	restore_words(&left);
	staying_judge_words(&left);
	hooks_off();
	got_close();
	patches_close();
	aside_end();
	installed_by = 0;
}

static void prepare_notes(struct rings *rings)
{
	notes_begin(rings);
	notes_add(&no_counter, 1);
	notes_add(&asked_in_walk, 1);
	for (unsigned i = 0; i < RUNTIMES; i++)
		notes_add(runtimes[i]->notes, runtimes[i]->note_count);
}

static int tracer_start(struct rings *rings)
{
	int r = patches_open();

	request = (struct trace_request){ 0 };
	if (!r)
		r = backend_open();
	if (!r)
		r = writers_open(rings, limpet_agent_is_own);
	if (r)
		return r;
	rings->is_held = 1;
	installed_by = (int32_t)raw0(SYS_getpid);
	request_read(rings->request, backend_symbol, &request);
	staying_judge_request(&request);
	got_choose_words(request.address_entries ? GOT_WORDS_ALL : GOT_WORDS_PROVEN);
	prepare_notes(rings);
	probe_use(&rings->probes);
	python_stacks_allow();
	engine = limpet_agent_amd ? limpet_agent_amd(sizeof(*engine)) : NULL;
	ring_use_engine(engine, watch_consult);
	r = tracer_want();
	if (r)
		return r;
	clock_start();
	if (!clock_may_be_read()) {
		if (engine)
			engine->forbid_counter();
		note_raise(&no_counter);
	}
	thread_learn(backend_symbol("__errno_location"), request.asks_number);
	confine_begin();
	aside_begin();
	ending_use(runtimes_exit_begin, runtimes_exit_end);
	hook_on_notice = on_notice;
	r = backend_watch(&(struct watch_calls){ add_report, scan_runtimes, tick_runtimes });
	__atomic_store_n(&rings->tracer_threads, r ? 0 : 1, __ATOMIC_RELAXED);
	return r;
}

static int tool_attach(limpet_detach_function *detach, struct limpet_context *contexts,
		       uint64_t context_count, void *data)
{
	struct rings *rings = limpet_agent_rings();
	int r;

	(void)detach;
	(void)contexts;
	(void)context_count;
	(void)data;
	if (!rings || !backend_use_agent())
		return -ENOENT;
	writer_ignore_me();
	writers_settle();
	forget_parent();
	r = tracer_start(rings);
	if (r)
		tracer_stop();
	return r;
}

static void tool_detach(void *data)
{
	(void)data;
	writer_ignore_me();
	tracer_stop();
}

/* Frees what can be freed; the library may be unloaded after this (staying.h). */
static void tracer_finalize(void *data)
{
	(void)data;
	writers_settle();
}

struct limpet_tool *rocprofiler_configure(uint32_t version, const char *runtime_version,
					  uint32_t priority, struct limpet_client *client)
{
	static struct limpet_tool tool = { .size = sizeof(tool), .finalize = tracer_finalize };

	(void)version;
	(void)runtime_version;
	(void)priority;
	client->name = "limpet-tracer";
	return limpet_agent_rings && limpet_agent_rings() ? &tool : NULL;
}

struct limpet_tool_attach *rocprofiler_configure_attach(uint32_t version,
							const char *runtime_version,
							uint32_t priority,
							struct limpet_client *client)
{
	static struct limpet_tool_attach tool = { .size = sizeof(tool),
						  .tool_attach = tool_attach,
						  .tool_detach = tool_detach };

	(void)version;
	(void)runtime_version;
	(void)priority;
	(void)client;
	return &tool;
}
