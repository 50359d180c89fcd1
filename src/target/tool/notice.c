/*
 * A tool library that limpet loads where nothing is traced: it notices the calls by which a program
 * changes what it may do, and has the agent leave before.  The lifecycle calls it on threads of its
 * runner.  It can be unloaded: only words are hooked that nothing but calls goes through, and a
 * thread that comes through a hook goes on to the original without coming back.
 */
#include "limpet/tool.h"
#include "shared/arch/syscall.h"
#include "target/agent/departure.h"
#include "target/hooks/thread.h"
#include "target/hooks/wants.h"
#include "target/tool/aside.h"
#include "target/tool/backend.h"
#include "target/tool/confine.h"
#include "target/tool/loader.h"
#include "target/tool/watch.h"

#include <errno.h>

#pragma weak limpet_agent_expect
#pragma weak __cxa_finalize

void __cxa_finalize(void *dso_handle);

/* The loader is about to work: modules may come. */
static const struct traced openings[] = {
	{ "dlopen", NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 },
	{ "dlmopen", NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 },
};

static int32_t installed_by; /* the process whose words we have changed; 0: none */
static bool must_stay;       /* somebody else may have kept the address of a hook */

static bool is_opening(const struct traced *traced)
{
	return traced >= openings && traced < openings + ARRAY_SIZE(openings);
}

static void on_notice(const struct traced *traced, uint64_t first, uint64_t second)
{
	if (is_opening(traced))
		watch_hurry();
	else if (confine_is_change(traced, first, second))
		aside_step();
}

static int want(void)
{
	bool fits = true;

	wants_clear();
	for (size_t i = 0; i < ARRAY_SIZE(openings); i++)
		fits &= wants_add(&openings[i]);
	for (size_t i = 0; i < confine_notice_count; i++)
		fits &= wants_add(&confine_notices[i]);
	return fits ? 0 : -ENOSPC;
}

static void ignore_report(const struct got_report *report)
{
	(void)report;
}

static void look_around(bool have_modules_changed)
{
	(void)have_modules_changed;
	aside_look();
	watch_answer();
}

/* Who has changed a word after us may have kept what it led to; and one that is still ours leads
 * here for ever. */
static void restore_words(void)
{
	struct words_left left = { 0 };

	got_restore(&left);
	if ((left.foreign || left.unwritable) && !must_stay)
		must_stay = got_hold((uint64_t)restore_words) != NULL;
}

static void put_back(void)
{
	restore_words();
	hooks_off();
	got_close();
	words_close();
	aside_end();
	installed_by = 0;
}

static void stop(void)
{
	hook_on_notice = NULL;
	watch_stop();
	limpet_agent_expect(0);
	put_back();
}

/* A forked child has its parent's hooks in its words, and they lead nowhere. */
static void forget_parent(void)
{
	if (!installed_by)
		return;
	watch_forget();
	put_back();
}

static int start(void)
{
	int r = words_open();

	if (!r)
		r = backend_open();
	if (!r)
		r = want();
	if (r)
		return r;
	got_take_calls_only();
	installed_by = (int32_t)raw0(SYS_getpid);
	thread_learn(backend_symbol("__errno_location"), /* asks */ false);
	aside_begin();
	hook_on_notice = on_notice;
	r = backend_watch(ignore_report, look_around);
	limpet_agent_expect(r ? 0 : 1);
	return r;
}

static int tool_attach(limpet_detach_function *detach, struct limpet_context *contexts,
		       uint64_t context_count, void *data)
{
	int r;

	(void)detach;
	(void)contexts;
	(void)context_count;
	(void)data;
	if (!limpet_agent_expect || !backend_use_agent())
		return -ENOENT;
	forget_parent();
	r = start();
	if (r)
		stop();
	return r;
}

static void tool_detach(void *data)
{
	(void)data;
	stop();
}

__attribute__((destructor)) static void go(void)
{
	if (__cxa_finalize)
		loader_leave_forks(__cxa_finalize);
}

struct limpet_tool *rocprofiler_configure(uint32_t version, const char *runtime_version,
					  uint32_t priority, struct limpet_client *client)
{
	static struct limpet_tool tool = { .size = sizeof(tool) };

	(void)version;
	(void)runtime_version;
	(void)priority;
	client->name = "limpet-notice";
	return limpet_agent_expect ? &tool : NULL;
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
