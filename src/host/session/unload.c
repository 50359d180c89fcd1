/*
 * Finds the reasons against unmapping.  A library may be unmapped only when no thread is in it or
 * will return into it.  The target's code calls no tool (hooks are removed before), so only threads
 * that began after the attach can be inside: the tool made them.  Their position and stacks are
 * read from outside.
 */
#include "host/session/steps.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/procfs.h"
#include "host/session/inside.h"
#include "host/session/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GLANCES      50
#define PAUSE_NS     20000000
#define PATIENCE_NS  1000000000u
#define AGENT_ITSELF "the agent itself: "

static void judge_thread(const struct attachment *attachment, const struct maps *maps, pid_t tid,
			 const char *thread_name, struct session_left *ret)
{
	const struct target *target = &attachment->target;
	const struct agent_page *page = &attachment->resident.page;
	struct position position = { 0, 0 };
	const struct agent_tool *tool;

	if (!position_see(target->process.pid, tid, GLANCES, &position)) {
		session_left_add(
			ret,
			"thread %d (%s) began after the attach and never waits: it may run in a tool",
			tid, thread_name);
		return;
	}
	tool = position_tool(target, page, maps, &position);
	if (tool && strcmp(tool->path, TRACER_NAME)) /* the tracer is judged by tracer_unload.c */
		session_left_add(ret, "%s: thread %d (%s) is inside", tool->path, tid, thread_name);
}

/* Application threads enter through the agent's hooks.  Those are removed, but a thread may still
 * be on its way.  False: unknown for this thread, and waiting for others is useless. */
static bool judge_passer(const struct attachment *attachment, const struct maps *maps, pid_t tid,
			 const char *thread_name, struct session_left *ret)
{
	const struct target *target = &attachment->target;
	struct position position;

	if (!position_settle(target->process.pid, tid, &position)) {
		session_left_add(ret,
				 AGENT_ITSELF
				 "thread %d (%s) makes no system call, and may be in a "
				 "signal handler that interrupts a hook",
				 tid, thread_name);
		return false;
	}
	if (position.stack && position_is_in_agent(target, &attachment->resident, maps, &position))
		session_left_add(ret, AGENT_ITSELF "thread %d (%s) is inside", tid, thread_name);
	return true;
}

/* In a time namespace the target's clock may differ from limpet's by any amount. */
static bool has_own_time(pid_t pid)
{
	struct stat own, others;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/time", pid);
	if (stat("/proc/self/ns/time", &own))
		return false; /* a kernel without time namespaces */
	return stat(path, &others) || own.st_ino != others.st_ino;
}

/* The first attach, in the clock ticks of /proc/PID/stat, minus one for rounding.  0: unknown, any
 * thread may have begun after it. */
static uint64_t first_tick(const struct attachment *attachment)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);

	if (has_own_time(attachment->target.process.memory_tid))
		return 0;
	return attachment->resident.page.loaded_ns / (1000000000u / per_second) - 1;
}

static void judge_threads(const struct attachment *attachment, const pid_t *tids, size_t count,
			  const struct maps *maps, struct session_left *ret)
{
	const struct agent_page *page = &attachment->resident.page;
	struct process_stat stat;
	bool judges_passers = page->has_hooked;
	struct boot_context boot;
	pid_t starter = 0;

	/* The starter stays with the control thread, outside of tool and agent. */
	if (!boot_context_read(attachment, &boot) && boot.is_apart)
		starter = target_find_thread(&attachment->target, boot.starter_tid);
	for (size_t i = 0; i < count; i++) {
		if (tids[i] == attachment->report.control_tid || tids[i] == starter ||
		    stat_read(attachment->target.process.pid, tids[i], &stat, NULL) ||
		    stat.is_kernel_worker)
			continue;
		if (page->tool_count && stat.start_tick >= first_tick(attachment))
			judge_thread(attachment, maps, tids[i], stat.name, ret);
		if (judges_passers)
			judges_passers = judge_passer(attachment, maps, tids[i], stat.name, ret);
	}
}

static int find_once(const struct attachment *attachment, struct session_left *ret, struct err *err)
{
	const struct agent_page *page = &attachment->resident.page;
	CLEANUP(free) pid_t *tids = NULL;
	struct maps maps;
	size_t count;
	int r = proc_list(attachment->target.process.pid, "task", &tids, &count, err);

	if (!r && !page->tool_count && !page->has_hooked)
		return 0;
	if (!r)
		r = maps_read(attachment->target.process.memory_tid, &maps, err);
	if (r)
		return r;
	judge_threads(attachment, tids, count, &maps, ret);
	tracer_find_reasons(attachment, &maps, ret);
	maps_done(&maps);
	return 0;
}

/* A program that starts threads all the time has a new one after each scan, and a thread may just
 * be in a hook.  Reasons that time removes are checked again for a while; nothing is stopped for
 * that. */
int unload_find_reasons(const struct attachment *attachment, struct session_left *ret,
			struct err *err)
{
	uint64_t until_ns = now_ns() + PATIENCE_NS;
	size_t before = ret->count;

	for (;;) {
		int r = find_once(attachment, ret, err);

		if (r || before || !ret->count || !tracer_can_unload(attachment) ||
		    now_ns() >= until_ns)
			return r;
		sleep_ns(PAUSE_NS);
		ret->count = 0;
	}
}

/* A library that another module has opened stays mapped when limpet closes it. */
void unload_find_agent(const struct attachment *attachment, struct session_left *ret)
{
	struct resident again = attachment->resident;

	if (resident_refresh(&attachment->target, &again) != -ENOENT)
		session_left_add(
			ret,
			"the agent itself: a library of the target has opened it too (a register "
			"library does, when it is asked for API tables)");
}

static bool is_named(const struct session_left *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strncmp(list->items[i], path, strlen(path)))
			return true;
	return false;
}

int unload_find_leftovers(const struct attachment *attachment, const struct agent_page *before,
			  struct session_left *ret, struct err *err)
{
	const struct target *target = &attachment->target;
	struct maps maps;
	int r = maps_read(target->process.memory_tid, &maps, err);

	for (size_t i = 0; !r && i < maps.count; i++) {
		const struct agent_tool *tool = mapping_tool(before, &maps.items[i]);

		if (tool && !is_named(ret, tool->path))
			session_left_add(
				ret,
				"%s: the loader keeps it (unique symbols, NODELETE, or loaded by the program too)",
				tool->path);
	}
	if (!r)
		maps_done(&maps);
	return r;
}
