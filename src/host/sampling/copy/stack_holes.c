/*
 * Fills holes in stacks before they are copied.
 */
#include "host/sampling/copy/stack_holes.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/maps.h"
#include "host/sampling/copy/copied_stack.h"
#include "shared/base/macros.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGES_MAX       256u          /* of one stack, from its end down */
#define STACKS_MAX      4096u         /* of a process */
#define PAGE_IN_USE     (3ull << 62)  /* present or swapped, in /proc/PID/pagemap */
#define STACK_BYTES_MAX (64ull << 20) /* larger: arenas and heaps, or the first stack */
#define BATCH_BYTES     (TOUCHED_MAX * LIVE_MEMORY_PIECE) /* of live_memory_touch() */

struct holes {
	pid_t pid;
	int pidfd;
	uint64_t until_ns;
};

struct stack_pages {
	uint64_t start; /* address of the first page */
	size_t count;
	uint64_t entries[PAGES_MAX]; /* from pagemap */
};

/* The main thread's, or a mapping behind a guard, as stacks of other threads are. */
static bool is_stack(const struct maps *maps, size_t index)
{
	const struct mapping *it = &maps->items[index], *guard = it - 1;

	if (!it->readable || !it->writable || it->shared)
		return false;
	if (!strcmp(it->path, "[stack]"))
		return true;
	if (it->end - it->start > STACK_BYTES_MAX)
		return false;
	return index && !it->path[0] && guard->end == it->start && !guard->readable &&
	       !guard->writable && !guard->executable && !guard->path[0];
}

static bool is_in_use(const struct stack_pages *pages, size_t index)
{
	return index < pages->count && pages->entries[index] & PAGE_IN_USE;
}

/* False when it has ended, as its number may be reused. */
static bool may_go_on(const struct holes *holes)
{
	struct pollfd process = { .fd = holes->pidfd, .events = POLLIN };

	return now_ns() < holes->until_ns && !interrupt_is_waiting() && poll(&process, 1, 0) <= 0;
}

/* False: stop filling. */
static bool pages_fill(const struct holes *holes, const struct stack_pages *pages)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start, end;
	size_t i = 0, first;

	while (i < pages->count && !is_in_use(pages, i))
		i++;
	for (; i < pages->count; i++) {
		for (first = i; i < pages->count && !is_in_use(pages, i);)
			i++;
		end = pages->start + i * page;
		for (start = pages->start + first * page; start < end; start += BATCH_BYTES) {
			if (!may_go_on(holes))
				return false;
			live_memory_touch(holes->pid, start, MIN(end, start + BATCH_BYTES));
		}
	}
	return true;
}

/* The pages at the end of a stack; false: they are not known. */
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

static void stacks_fill(const struct holes *holes)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	CLEANUP(close) int pagemap = -1;
	struct stack_pages pages;
	struct err unheard = { 0 };
	unsigned stacks = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)holes->pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0 || maps_read(holes->pid, &maps, &unheard))
		return;
	for (size_t i = 0; i < maps.count && stacks < STACKS_MAX; i++) {
		if (!is_stack(&maps, i))
			continue;
		stacks++;
		if (!may_go_on(holes) ||
		    (pages_read(&pages, pagemap, &maps.items[i]) && !pages_fill(holes, &pages)))
			return;
	}
}

void stack_holes_fill(pid_t pid, int pidfd, uint64_t *left_ns)
{
	uint64_t start = now_ns();
	struct holes holes = { pid, pidfd, start + *left_ns };

	if (may_go_on(&holes))
		stacks_fill(&holes);
	*left_ns -= MIN(*left_ns, now_ns() - start);
}
