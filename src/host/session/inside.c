/*
 * Finds where threads are from /proc and from their stacks.
 */
#include "host/session/inside.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/path.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"
#include "host/process/threads.h"
#include "host/session/trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#define STACK_WORDS 4096
#define GLANCE_NS   1000000

#define SETTLE_GLANCES   10000
#define SETTLE_GLANCE_NS 100000
#define SETTLE_RUN_NS    200000 /* of processor time: some instructions and page faults */

/* Is this mapping of a tool?  By content they are memory files with the tool's name. */
const struct agent_tool *mapping_tool(const struct agent_page *page, const struct mapping *mapping)
{
	char name[TOOL_PATH_MAX + 32];

	for (unsigned i = 0; i < page->tool_count; i++) {
		const struct agent_tool *tool = &page->tools[i];

		snprintf(name, sizeof(name), "/memfd:%s (deleted)", path_base_name(tool->path));
		if (tool->by_content ? !strcmp(mapping->path, name)
				     : (mapping->inode == tool->identity.inode &&
					makedev(mapping->dev_major, mapping->dev_minor) ==
						tool->identity.device))
			return tool;
	}
	return NULL;
}

/* What is searched for: mappings of tools, or the code of this file. */
struct sought {
	const struct agent_page *page;
	const struct mapping *file;
};

static const struct mapping *find_at(const struct maps *maps, const struct sought *sought,
				     uint64_t address)
{
	const struct mapping *mapping = maps_at(maps, address), *file = sought->file;

	if (!mapping)
		return NULL;
	if (!file)
		return mapping_tool(sought->page, mapping) ? mapping : NULL;
	return mapping->executable && mapping->inode == file->inode &&
			       mapping->dev_major == file->dev_major &&
			       mapping->dev_minor == file->dev_minor
		       ? mapping
		       : NULL;
}

/* Parses "... 0xSTACK 0xIP", which the kernel shows for a thread that waits, in a call or not. */
static bool parse_position(char *text, struct position *ret)
{
	char *ip = strrchr(text, ' '), *stack;

	if (!ip)
		return false; /* "running" */
	*ip++ = 0;
	stack = strrchr(text, ' ');
	if (!stack)
		return false;
	ret->ip = strtoul(ip, NULL, 16);
	ret->stack = strtoul(stack + 1, NULL, 16);
	return ret->stack != 0;
}

/* True when the thread has ended, or waits, in a call if it must. */
static bool position_read(pid_t pid, pid_t tid, bool must_be_in_call, struct position *ret)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	if (proc_read_small(pid, name, text, sizeof(text), NULL) < 0)
		return true; /* it has ended */
	/* "-1 ..." is a thread that waits, but not in a call. */
	return (!must_be_in_call || (text[0] >= '0' && text[0] <= '9')) &&
	       parse_position(text, ret);
}

bool position_see(pid_t pid, pid_t tid, unsigned glances, struct position *ret)
{
	for (unsigned i = 0; i < glances; i++) {
		if (position_read(pid, tid, false, ret))
			return true;
		sleep_ns(GLANCE_NS);
	}
	return false;
}

/* The processor time of a thread since the first call.  Time in a signal handler does not count:
 * the interrupted code makes no progress.  A signal is blocked while its handler runs, unless the
 * program set SA_NODEFER. */
static uint64_t count_run_ns(pid_t pid, pid_t tid, uint64_t *first_ns)
{
	struct process_status status;
	struct schedstat times;
	uint64_t now_ns = schedstat_read(pid, tid, &times) ? 0 : times.run_ns;

	if (!*first_ns || status_read(pid, tid, &status, NULL) ||
	    status.signals_blocked & status.signals_caught)
		*first_ns = now_ns;
	return now_ns - *first_ns;
}

bool position_settle(pid_t pid, pid_t tid, struct position *ret)
{
	uint64_t first_ns = 0;

	*ret = (struct position){ 0, 0 };
	for (unsigned i = 0; i < SETTLE_GLANCES; i++) {
		if (position_read(pid, tid, true, ret) ||
		    count_run_ns(pid, tid, &first_ns) >= SETTLE_RUN_NS)
			return true;
		sleep_ns(SETTLE_GLANCE_NS);
	}
	return false;
}

/* The mapping that it is in, or that some word of its stack points into: the thread may return
 * there. */
static const struct mapping *find_position(const struct target *target, const struct maps *maps,
					   const struct sought *sought,
					   const struct position *position)
{
	const struct mapping *stack = maps_at(maps, position->stack);
	const struct mapping *found = find_at(maps, sought, position->ip);
	uint64_t words[STACK_WORDS];

	for (uint64_t at = position->stack; stack && !found && at < stack->end;
	     at += sizeof(words)) {
		size_t size = MIN(sizeof(words), stack->end - at);

		if (!memory_read(target->memory, at, words, size))
			break;
		for (size_t i = 0; !found && i < size / sizeof(words[0]); i++)
			found = find_at(maps, sought, words[i]);
	}
	return found;
}

const struct agent_tool *position_tool(const struct target *target, const struct agent_page *page,
				       const struct maps *maps, const struct position *position)
{
	struct sought sought = { .page = page };
	const struct mapping *found = find_position(target, maps, &sought, position);

	return found ? mapping_tool(page, found) : NULL;
}

bool position_is_in_agent(const struct target *target, const struct resident *resident,
			  const struct maps *maps, const struct position *position)
{
	struct sought sought = { .file = maps_at(maps, resident->address) };

	/* A stack mapped since the mappings were read may hold anything. */
	return sought.file && ((position->stack && !maps_at(maps, position->stack)) ||
			       find_position(target, maps, &sought, position));
}

const struct agent_tool *page_tracer(const struct agent_page *page)
{
	for (unsigned i = 0; i < page->tool_count; i++)
		if (page->tools[i].handle && !strcmp(page->tools[i].path, TRACER_NAME))
			return &page->tools[i];
	return NULL;
}

/* limpet's threads come from the tracer's code, and are in no call of the application.  A thread
 * that has run a tool's last call ends a moment after limpet gets the answer. */
static bool is_limpets(pid_t pid, pid_t tid)
{
	char name[32] = "";

	thread_read_name(pid, tid, name, sizeof(name));
	return !strncmp(name, CONTROL_THREAD_NAME, strlen(CONTROL_THREAD_NAME)) ||
	       !strncmp(name, LISTENER_THREAD_NAME, strlen(LISTENER_THREAD_NAME));
}

/* Calls of AMD's runtimes go through the agent, all others through the tracer. */
static bool is_inside(const struct target *target, const struct resident *resident,
		      const struct maps *maps, const struct position *position)
{
	const struct agent_tool *tool = position_tool(target, &resident->page, maps, position);

	return (tool && !strcmp(tool->path, TRACER_NAME)) ||
	       position_is_in_agent(target, resident, maps, position);
}

size_t inside_count(const struct target *target, const struct resident *resident)
{
	pid_t pid = target->process.pid;
	CLEANUP(free) pid_t *tids = NULL;
	struct maps maps;
	size_t count = 0, inside = 0;

	if (!page_tracer(&resident->page) || proc_list(pid, "task", &tids, &count, NULL) ||
	    maps_read(target->process.memory_tid, &maps, NULL))
		return 0;
	for (size_t i = 0; i < count; i++) {
		struct position position = { 0, 0 };

		inside += !is_limpets(pid, tids[i]) &&
			  position_read(pid, tids[i], false, &position) && position.stack &&
			  is_inside(target, resident, &maps, &position);
	}
	maps_done(&maps);
	return inside;
}
