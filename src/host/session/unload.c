/*
 * A library may go only when no thread is in it or will return into it.  Nothing of the program's
 * calls a tool (hooks are taken out before), so only threads that began after the attach can be
 * inside: the tool made them. Their place and their stacks are read from outside.  Host only.
 */
#include "host/session/unload.h"

#include "host/attach/candidates.h"
#include "host/core/cleanup.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define STACK_WORDS 4096
#define GLANCES     50
#define GLANCE_NS   1000000

/* Is this mapping of a tool?  By content they are memory files with the tool's name. */
static const struct agent_tool *tool_of(const struct agent_page *page,
					const struct mapping *mapping)
{
	char name[TOOL_PATH_MAX + 32];

	for (unsigned i = 0; i < page->tool_count; i++) {
		const struct agent_tool *tool = &page->tools[i];
		const char *slash = strrchr(tool->path, '/');

		snprintf(name, sizeof(name), "/memfd:%s (deleted)", slash ? slash + 1 : tool->path);
		if (tool->by_content ? !strcmp(mapping->path, name)
				     : (mapping->inode == tool->identity.inode &&
					makedev(mapping->dev_major, mapping->dev_minor) ==
						tool->identity.device))
			return tool;
	}
	return NULL;
}

static const struct agent_tool *tool_at(const struct session *session, const struct maps *maps,
					uint64_t address)
{
	const struct mapping *mapping = maps_at(maps, address);

	return mapping ? tool_of(&session->attachment.resident.page, mapping) : NULL;
}

/* "... 0xSTACK 0xIP", as the kernel shows a thread that waits, in a call or out of one. */
static bool parse_place(char *text, uint64_t *ret_ip, uint64_t *ret_stack)
{
	char *ip = strrchr(text, ' '), *stack;

	if (!ip)
		return false; /* "running" */
	*ip++ = 0;
	stack = strrchr(text, ' ');
	if (!stack)
		return false;
	*ret_ip = strtoul(ip, NULL, 16);
	*ret_stack = strtoul(stack + 1, NULL, 16);
	return *ret_stack != 0;
}

/* Looks at a thread that waits; false when it never does. */
static bool see_thread(pid_t pid, pid_t tid, uint64_t *ret_ip, uint64_t *ret_stack)
{
	struct timespec delay = { 0, GLANCE_NS };
	struct err ignored;
	char name[64], text[256];

	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	for (unsigned i = 0; i < GLANCES; i++) {
		if (proc_read_small(pid, name, text, sizeof(text), &ignored) < 0)
			return true; /* it has ended */
		if (parse_place(text, ret_ip, ret_stack))
			return true;
		nanosleep(&delay, NULL);
	}
	return false;
}

/* A tool that some word of the stack points into: the thread may return there. */
static const struct agent_tool *tool_on_stack(const struct session *session,
					      const struct maps *maps, uint64_t stack)
{
	const struct mapping *mapping = maps_at(maps, stack);
	const struct agent_tool *tool = NULL;
	uint64_t words[STACK_WORDS];

	for (uint64_t at = stack; mapping && !tool && at < mapping->end; at += sizeof(words)) {
		size_t size = MIN(sizeof(words), mapping->end - at);

		if (!memory_read(session->attachment.target.memory, at, words, size))
			break;
		for (size_t i = 0; !tool && i < size / sizeof(words[0]); i++)
			tool = tool_at(session, maps, words[i]);
	}
	return tool;
}

static void judge_thread(const struct session *session, const struct maps *maps, pid_t tid,
			 const char *thread_name, struct session_left *ret)
{
	const struct agent_tool *tool;
	uint64_t ip = 0, stack = 0;

	if (!see_thread(session->attachment.target.process.pid, tid, &ip, &stack)) {
		session_left_add(
			ret,
			"thread %d (%s) began after the attach and never waits: it may run in a tool",
			tid, thread_name);
		return;
	}
	tool = tool_at(session, maps, ip);
	if (!tool)
		tool = tool_on_stack(session, maps, stack);
	if (tool)
		session_left_add(ret, "%s: thread %d (%s) is inside", tool->path, tid, thread_name);
}

/* Its clock may be ahead of ours by any amount. */
static bool has_own_time(pid_t pid)
{
	struct stat mine, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/time", pid);
	if (stat("/proc/self/ns/time", &mine))
		return false; /* a kernel without such namespaces */
	return stat(path, &theirs) || mine.st_ino != theirs.st_ino;
}

/* The first attach, in the clock ticks of /proc/PID/stat; one earlier, as ticks are coarse.  0:
 * unknown, any thread may have begun after it. */
static uint64_t first_tick(const struct session *session)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);

	if (has_own_time(session->attachment.target.process.memory_tid))
		return 0;
	return session->attachment.resident.page.loaded_ns / (1000000000u / per_second) - 1;
}

int unload_find_reasons(const struct session *session, struct session_left *ret, struct err *err)
{
	const struct attachment *attachment = &session->attachment;
	pid_t pid = attachment->target.process.pid;
	CLEANUP(free) pid_t *tids = NULL;
	struct process_stat stat;
	struct err ignored; /* a thread that has just ended is not inside */
	struct maps maps;
	size_t count;
	int r = proc_list(pid, "task", &tids, &count, err);

	if (!r && !attachment->resident.page.tool_count)
		return 0;
	if (!r)
		r = maps_read(attachment->target.process.memory_tid, &maps, err);
	if (r)
		return r;
	for (size_t i = 0; i < count; i++)
		if (tids[i] != attachment->report.control_tid &&
		    !stat_read(pid, tids[i], &stat, &ignored) &&
		    stat.start_tick >= first_tick(session))
			judge_thread(session, &maps, tids[i], stat.name, ret);
	maps_done(&maps);
	return 0;
}

static bool was_named(const struct session_left *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strncmp(list->items[i], path, strlen(path)))
			return true;
	return false;
}

int unload_find_leftovers(const struct session *session, const struct agent_page *before,
			  struct session_left *ret, struct err *err)
{
	const struct target *target = &session->attachment.target;
	struct maps maps;
	int r = maps_read(target->process.memory_tid, &maps, err);

	for (size_t i = 0; !r && i < maps.count; i++) {
		const struct agent_tool *tool = tool_of(before, &maps.items[i]);

		if (tool && !was_named(ret, tool->path))
			session_left_add(
				ret,
				"%s: the loader keeps it (unique symbols, NODELETE, or loaded by the program too)",
				tool->path);
	}
	if (!r)
		maps_done(&maps);
	return r;
}
