/*
 * Finds the agent's page in the mappings of its library.  The page is foreign: copied once, then
 * checked.
 */
#include "host/attach/facts/resident.h"

#include "host/core/clock.h"
#include "host/process/memory.h"
#include "shared/wire/control.h"

#include <errno.h>
#include <string.h>

#define PAGE_STEP     4096
#define PAGES_MAX     4096           /* read in one process; a few are limpet's */
#define REST_LIMIT_NS 25000000000ull /* longer than limpet's thread waits for a dead host */

/* Also ends its texts. */
static bool is_sound(struct agent_page *page)
{
	page->holder_name[sizeof(page->holder_name) - 1] = 0;
	for (unsigned i = 0; i < AGENT_TOOLS_MAX; i++) {
		page->tools[i].path[TOOL_PATH_MAX - 1] = 0;
		page->tools[i].reason[TOOL_REASON_MAX - 1] = 0;
		if (page->tools[i].state >= TOOL_STATES)
			return false;
	}
	for (unsigned i = 0; i < AGENT_TABLES_MAX; i++) {
		page->tables[i].name[TABLE_NAME_MAX - 1] = 0;
		if (page->tables[i].part_count > TABLE_PARTS_MAX)
			return false;
	}
	return page->version == AGENT_VERSION && page->size == sizeof(*page) &&
	       page->state <= AGENT_STATE_RESTING && page->tool_count <= AGENT_TOOLS_MAX &&
	       page->table_count <= AGENT_TABLES_MAX;
}

static int read_page(const struct target *target, uint64_t address, struct agent_page *ret)
{
	if (!memory_read(target->memory, address, ret, sizeof(*ret)) ||
	    memcmp(ret->magic, AGENT_PAGE_MAGIC, sizeof(AGENT_PAGE_MAGIC)))
		return -ENOENT;
	return is_sound(ret) ? 0 : -EPROTO;
}

/* The library has the name that limpet gave it, or the program loaded it itself. */
static bool is_of_agent(const struct mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');

	return mapping->writable &&
	       (!strcmp(mapping->path, "/memfd:" AGENT_MEMFD_NAME " (deleted)") ||
		(slash && !strncmp(slash + 1, AGENT_SONAME, strlen(AGENT_SONAME))));
}

/* Any program can give this name to a huge file, and reading its pages allocates memory in the
 * target: hence a limit.  Without a context, a copy that never ran does not count. */
static int find_in(const struct target *target, const struct mapping *mapping, uint64_t context,
		   unsigned *pages, struct resident *ret)
{
	for (uint64_t at = mapping->start; at < mapping->end && *pages < PAGES_MAX;
	     at += PAGE_STEP, ++*pages) {
		int r = read_page(target, at, &ret->page);

		ret->address = at;
		if (r == -EPROTO || (!r && (context ? context == ret->page.context
						    : ret->page.pid || ret->page.context)))
			return r;
	}
	return -ENOENT;
}

int resident_find_at(const struct target *target, uint64_t context, struct resident *ret)
{
	const struct maps *maps = &target->process.maps;
	unsigned pages = 0;
	int r = -ENOENT;

	for (size_t i = 0; r == -ENOENT && i < maps->count; i++)
		if (is_of_agent(&maps->items[i]))
			r = find_in(target, &maps->items[i], context, &pages, ret);
	return r;
}

int resident_find(const struct target *target, struct resident *ret)
{
	return resident_find_at(target, 0, ret);
}

int resident_explain(const struct target *target, int r, struct err *err)
{
	err_set(err, r, "there is no agent in %d (%s)", target->process.pid,
		target->process.status.name);
	return err_why(err, r == -EPROTO
				    ? "the one that is there is of another version of limpet"
				    : "limpet is not attached to it, or everything was unloaded");
}

int resident_refresh(const struct target *target, struct resident *resident)
{
	return read_page(target, resident->address, &resident->page);
}

bool resident_holder_lives(const struct resident *resident)
{
	const struct agent_page *page = &resident->page;
	struct process_stat stat;

	return page->holder_pid && !stat_read(page->holder_pid, page->holder_pid, &stat, NULL) &&
	       stat.start_tick == page->holder_start;
}

/* Is there a thread of limpet's with this number, in the target's numbers?  The name is checked:
 * numbers are reused. */
static bool has_limpets_thread(const struct target *target, pid_t inner)
{
	pid_t tid = inner ? target_find_thread(target, inner) : 0;
	struct process_status status;

	return tid && !status_read(target->process.pid, tid, &status, NULL) &&
	       (!strcmp(status.name, CONTROL_THREAD_NAME) ||
		!strcmp(status.name, LISTENER_THREAD_NAME));
}

bool resident_is_held(const struct target *target, const struct resident *resident)
{
	const struct agent_page *page = &resident->page;

	return page->pid == target->process.status.inner_pid &&
	       (page->state == AGENT_STATE_ATTACHED || page->state == AGENT_STATE_DETACHING) &&
	       has_limpets_thread(target, page->control_tid);
}

static int read_context(const struct target *target, const struct resident *resident,
			struct boot_context *ret)
{
	uint64_t address = resident->page.context;

	return memory_read(target->memory, address, ret, sizeof(*ret)) &&
			       ret->magic == BOOT_MAGIC && ret->agent_entry &&
			       address == ret->region + REGION_DATA + DATA_CONTEXT
		       ? 0
		       : -ENOENT;
}

/* A forked child has the region, but none of the threads that were in it. */
static bool is_quiet(const struct target *target, const struct resident *resident,
		     const struct boot_context *boot)
{
	uint32_t starter = 0;

	if (resident->page.pid != target->process.status.inner_pid)
		return true;
	/* The kernel clears the starter's number when that has ended. */
	if (boot->tid_word)
		memory_read(target->memory, boot->region + boot->tid_word, &starter,
			    sizeof(starter));
	return !starter && !has_limpets_thread(target, boot->worker_tid);
}

int resident_await_rest(const struct target *target, struct resident *resident,
			struct boot_context *ret)
{
	uint64_t deadline_ns = now_ns() + REST_LIMIT_NS;

	do {
		if (resident_refresh(target, resident))
			return -ENOENT;
		/* Checked before the region: an agent that came through a listener has none. */
		if (resident_is_held(target, resident) && resident_holder_lives(resident))
			return -EBUSY;
		if (read_context(target, resident, ret))
			return -ENOENT;
		if (!resident_is_held(target, resident) && is_quiet(target, resident, ret))
			return 0;
		if (resident_holder_lives(resident))
			return -EBUSY;
		sleep_ns(1000000);
	} while (now_ns() < deadline_ns);
	return -EBUSY;
}
