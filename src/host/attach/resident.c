/*
 * Looks for the agent's page in the mappings of its library.  Host only; the page is foreign:
 * copied once, then checked.
 */
#include "host/attach/resident.h"

#include "host/process/memory.h"
#include "host/process/stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE_STEP 4096

static bool is_sound(struct agent_page *page)
{
	page->holder_name[sizeof(page->holder_name) - 1] = 0;
	for (unsigned i = 0; i < AGENT_TOOLS_MAX; i++)
		page->tools[i].path[TOOL_PATH_MAX - 1] = 0;
	return page->version == AGENT_PAGE_VERSION && page->size == sizeof(*page) &&
	       page->tool_count <= AGENT_TOOLS_MAX && page->state <= AGENT_STATE_RESTING;
}

static int read_page(const struct target *target, uint64_t address, struct agent_page *ret)
{
	if (!memory_read(target->memory, address, ret, sizeof(*ret)) ||
	    memcmp(ret->magic, AGENT_PAGE_MAGIC, sizeof(AGENT_PAGE_MAGIC)))
		return -ENOENT;
	return is_sound(ret) ? 0 : -EPROTO;
}

int resident_find(const struct target *target, struct resident *ret)
{
	const struct maps *maps = &target->process.maps;
	char name[64];

	snprintf(name, sizeof(name), "/memfd:%s (deleted)", AGENT_MEMFD_NAME);
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->items[i];

		if (!mapping->writable || strcmp(mapping->path, name))
			continue;
		for (uint64_t at = mapping->start; at < mapping->end; at += PAGE_STEP) {
			int r = read_page(target, at, &ret->page);

			ret->address = at;
			if (r != -ENOENT)
				return r;
		}
	}
	return -ENOENT;
}

int resident_refresh(const struct target *target, struct resident *resident)
{
	return read_page(target, resident->address, &resident->page);
}

static bool holder_lives(const struct agent_page *page)
{
	struct process_stat stat;
	struct err ignored;

	return !stat_read(page->holder_pid, page->holder_pid, &stat, &ignored) &&
	       stat.start_tick == page->holder_start;
}

bool resident_is_held(const struct target *target, const struct resident *resident)
{
	const struct agent_page *page = &resident->page;

	if (page->pid != target->process.status.inner_pid)
		return false;
	return (page->state == AGENT_STATE_ATTACHED || page->state == AGENT_STATE_DETACHING) &&
	       holder_lives(page);
}
