/*
 * Fills holes in stacks before they are copied.  Host only.
 */
#include "host/sampling/copy/stack_holes.h"

#include "host/core/cleanup.h"
#include "host/process/maps.h"
#include "host/sampling/live_memory.h"
#include "shared/base/macros.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGES_MAX   256u         /* of one stack, from its end down */
#define STACKS_MAX  4096u        /* of a process */
#define PAGE_IN_USE (3ull << 62) /* present or swapped, in /proc/PID/pagemap */

struct stack_pages {
	uint64_t start; /* address of the first */
	size_t count;
	uint64_t entries[PAGES_MAX]; /* as pagemap has them */
};

/* The main thread's, or what lies behind a guard as stacks of other threads do. */
static bool is_stack(const struct maps *maps, size_t index)
{
	const struct mapping *it = &maps->items[index], *guard = it - 1;

	if (!it->readable || !it->writable || it->shared)
		return false;
	if (!strcmp(it->path, "[stack]"))
		return true;
	return index && !it->path[0] && guard->end == it->start && !guard->readable &&
	       !guard->writable && !guard->executable && !guard->path[0];
}

static bool pages_read(struct stack_pages *ret, int pagemap, const struct mapping *stack)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t count = MIN((stack->end - stack->start) / page, (uint64_t)PAGES_MAX);
	ssize_t size = (ssize_t)(count * sizeof(*ret->entries));

	ret->start = stack->end - count * page;
	ret->count = count;
	return pread(pagemap, ret->entries, (size_t)size,
		     (off_t)(ret->start / page * sizeof(*ret->entries))) == size;
}

static bool is_in_use(const struct stack_pages *pages, size_t index)
{
	return index < pages->count && pages->entries[index] & PAGE_IN_USE;
}

static void pages_fill(const struct stack_pages *pages, pid_t pid)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), address;
	size_t i = 0;

	while (i < pages->count && !is_in_use(pages, i))
		i++;
	for (; i < pages->count; i++) {
		address = pages->start + i * page;
		if (!is_in_use(pages, i))
			live_memory_touch(pid, address, address + 1);
	}
}

void stack_holes_fill(pid_t pid)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	CLEANUP(close) int pagemap = -1;
	struct stack_pages pages;
	struct err unheard = { 0 };
	unsigned stacks = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0 || maps_read(pid, &maps, &unheard))
		return;
	for (size_t i = 0; i < maps.count && stacks < STACKS_MAX; i++) {
		if (!is_stack(&maps, i))
			continue;
		stacks++;
		if (pages_read(&pages, pagemap, &maps.items[i]))
			pages_fill(&pages, pid);
	}
}
