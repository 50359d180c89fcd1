/*
 * Proves from outside that no thread or memory of the target leads to the tracer any more, once its
 * hooks are removed.  Every thread must be seen waiting in a system call with no address of the
 * tracer's code on its stack.  Then the program's memory is searched for such addresses: suspended
 * coroutines, frames that a signal handler has interrupted, copies of a hook's address.  Below the
 * stack pointer of a thread finished calls have left such addresses, but the frame of a call in
 * flight may lie there as well: the thread may run a coroutine, or a handler, whose stack is an
 * array of one of its functions.  There limpet searches for what only such a frame has.  Without
 * the proof the tracer stays mapped.
 */
#include "host/session/steps.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/process/threads.h"
#include "host/session/inside.h"
#include "host/session/trace.h"
#include "host/session/unload_words.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_NS       2000000000ull /* until all threads were seen waiting */
#define GLANCE_NS     300000
#define HEADERS_MAX   16u
#define PIECE_WORDS   8192u
#define PAGES_AT_ONCE 512u
#define PAGE_IN_USE   (3ull << 62) /* present or swapped, in /proc/PID/pagemap */
#define LOOK_MAX      (8ull << 20) /* of one stack; memory above is searched as data */
#define SEARCH_MAX    (4ull << 30) /* bytes in use: a second or two */
#define SPACE_MAX     (4ull << 40) /* bytes mapped: limits the reads of pagemap */
#define AGAIN         "; limpet detach %d --unload tries again"

struct proof {
	const struct attachment *attachment;
	const struct maps *maps;
	struct session_left *left;
	pid_t pid;
	uint64_t page;
	struct tracer_code tracer;
	struct range agent; /* all of its mappings */
	uint64_t *stacks;   /* stack pointers of the threads seen */
	size_t stack_count;
};

static bool is_tracer(const struct proof *self, const struct mapping *mapping)
{
	const struct agent_tool *tool = mapping_tool(&self->attachment->resident.page, mapping);

	return tool && !strcmp(tool->path, TRACER_NAME);
}

struct library {
	struct range all, code;
};

/* From the library's own headers, which are mapped at its beginning: its .bss has no name in the
 * list of mappings, and the loader keeps addresses of the end of its code. */
static bool read_library(const struct proof *self, uint64_t base, struct library *ret)
{
	int memory = self->tracer.memory;
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr head;

	*ret = (struct library){ { base, base }, { 0, 0 } };
	if (!memory_read(memory, base, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_phnum > HEADERS_MAX ||
	    !memory_read(memory, base + head.e_phoff, headers, head.e_phnum * sizeof(headers[0])))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uint64_t start = base + headers[i].p_vaddr, end = start + headers[i].p_memsz;

		if (headers[i].p_type != PT_LOAD)
			continue;
		ret->all.end = MAX(ret->all.end, ALIGN_UP(end, self->page));
		if (headers[i].p_flags & PF_X)
			ret->code = (struct range){ start, end };
	}
	return ret->code.end;
}

/* The first mapping of a file, where its headers are. */
static uint64_t find_base(const struct maps *maps, uint64_t inode)
{
	for (size_t i = 0; inode && i < maps->count; i++)
		if (maps->items[i].inode == inode && !maps->items[i].offset)
			return maps->items[i].start;
	return 0;
}

static bool find_libraries(struct proof *self)
{
	const struct mapping *agent = maps_at(self->maps, self->attachment->resident.address);
	uint64_t tracer = 0;
	struct library found;

	for (size_t i = 0; !tracer && i < self->maps->count; i++)
		if (is_tracer(self, &self->maps->items[i]))
			tracer = find_base(self->maps, self->maps->items[i].inode);
	if (!agent || !tracer || !read_library(self, tracer, &found))
		return false;
	self->tracer.code = found.code;
	self->tracer.all = found.all;
	if (!read_library(self, find_base(self->maps, agent->inode), &found))
		return false;
	self->agent = found.all;
	return true;
}

/* vfork and clone: the child uses the same memory, on a stack that is not known. */
static bool awaits_child(long number)
{
#ifdef SYS_vfork
	if (number == SYS_vfork)
		return true;
#endif
	return number == SYS_clone || number == SYS_clone3;
}

/* Memory that may hold a stack: private, or shared with children. */
static bool is_searched(const struct mapping *mapping)
{
	return mapping->readable && mapping->writable &&
	       (!mapping->shared || !strncmp(mapping->path, "/dev/zero", 9) ||
		!strncmp(mapping->path, "/memfd:", 7));
}

enum sight { SIGHT_CLEAR, SIGHT_RUNNING, SIGHT_INSIDE, SIGHT_CHILD };

/* Reads a stack from the stack pointer up.  Hooks are removed: no new frame can appear. */
static enum sight judge_stack(const struct proof *self, uint64_t stack)
{
	const struct mapping *mapping = maps_at(self->maps, stack);
	uint64_t words[PIECE_WORDS], end, found;

	if (!mapping)
		return SIGHT_RUNNING; /* mapped since: contents unknown */
	end = is_searched(mapping) ? MIN(mapping->end, stack + LOOK_MAX) : mapping->end;
	for (uint64_t at = stack & ~7ull; at < end; at += sizeof(words)) {
		size_t size = MIN(sizeof(words), mapping->end - at);

		if (!memory_read(self->tracer.memory, at, words, size))
			return SIGHT_RUNNING;
		if (tracer_words_find(&self->tracer, at, words, size / sizeof(words[0]), &found))
			return SIGHT_INSIDE;
	}
	return SIGHT_CLEAR;
}

static enum sight judge_thread(const struct proof *self, pid_t tid, uint64_t *ret_stack)
{
	struct blocked_call call;

	*ret_stack = 0;
	if (thread_read_call(self->pid, tid, &call))
		return SIGHT_CLEAR; /* it has ended */
	if (!call.is_known)
		return SIGHT_RUNNING;
	if (range_has(self->tracer.code, call.ip))
		return SIGHT_INSIDE;
	if (awaits_child(call.nr))
		return SIGHT_CHILD;
	*ret_stack = call.stack;
	return judge_stack(self, call.stack);
}

static void add_thread(const struct proof *self, pid_t tid, enum sight sight)
{
	static const char *const texts[] = {
		[SIGHT_RUNNING] = "never waits in a system call, so limpet cannot see where it is",
		[SIGHT_INSIDE] = "has not returned from a traced call",
		[SIGHT_CHILD] = "waits for a child that uses the same memory",
	};
	char name[32] = "";

	thread_read_name(self->pid, tid, name, sizeof(name));
	session_left_add(self->left, TRACER_NAME ": thread %d (%s) %s" AGAIN, tid, name,
			 texts[sight], self->pid);
}

/* Processes that were made with clone() to use the same memory are no threads of this one. */
static bool judge_children(const struct proof *self, pid_t tid)
{
	char path[64], text[4096], *end;

	snprintf(path, sizeof(path), "task/%d/children", tid);
	if (proc_read_small(self->pid, path, text, sizeof(text), NULL) < 0)
		return true; /* it has ended, or the kernel does not show it */
	for (char *at = text;; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			return true;
		if (syscall(SYS_kcmp, self->pid, child, KCMP_VM, 0, 0))
			continue;
		session_left_add(self->left, TRACER_NAME ": process %d uses the same memory" AGAIN,
				 child, self->pid);
		return false;
	}
}

/* A thread that must be seen once where it cannot return to the tracer. */
struct watched {
	pid_t tid;
	enum sight sight;
};

static bool watch_round(struct proof *self, struct watched *threads, size_t count)
{
	bool is_clear = true;

	for (size_t i = 0; i < count; i++) {
		uint64_t stack;

		if (threads[i].sight == SIGHT_CLEAR)
			continue;
		threads[i].sight = judge_thread(self, threads[i].tid, &stack);
		is_clear &= threads[i].sight == SIGHT_CLEAR;
		if (threads[i].sight == SIGHT_CLEAR && stack)
			self->stacks[self->stack_count++] = stack;
	}
	return is_clear;
}

static bool judge_threads(struct proof *self)
{
	CLEANUP(free) struct watched *threads = NULL;
	CLEANUP(free) pid_t *tids = NULL;
	uint64_t until_ns = now_ns() + WAIT_NS;
	bool is_clear = true;
	size_t count;

	if (threads_list_own(self->pid, SIZE_MAX, &tids, &count, NULL)) {
		session_left_add(self->left, TRACER_NAME ": its threads cannot be listed");
		return false;
	}
	threads = calloc(count, sizeof(*threads));
	self->stacks = calloc(count, sizeof(*self->stacks));
	if (!threads || !self->stacks) {
		session_left_add(self->left, TRACER_NAME ": limpet has not enough memory to look");
		return false;
	}
	for (size_t i = 0; i < count; i++)
		threads[i] =
			(struct watched){ tids[i], tids[i] == self->attachment->report.control_tid
							   ? SIGHT_CLEAR
							   : SIGHT_RUNNING };
	while (!watch_round(self, threads, count) && now_ns() < until_ns)
		sleep_ns(GLANCE_NS);
	for (size_t i = 0; i < count; i++) {
		if (threads[i].sight != SIGHT_CLEAR)
			add_thread(self, tids[i], threads[i].sight);
		is_clear &= threads[i].sight == SIGHT_CLEAR && judge_children(self, tids[i]);
	}
	return is_clear;
}

/* The lowest stack pointer there; UINT64_MAX: none. */
static uint64_t lowest_stack(const struct proof *self, uint64_t start, uint64_t end)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < self->stack_count; i++)
		if (self->stacks[i] >= start && self->stacks[i] < end)
			lowest = MIN(lowest, self->stacks[i]);
	return lowest;
}

/* Above `in_use` the search is for any address in the tracer's code, between `start` and `in_use`
 * only for frames of calls in flight. */
struct search_area {
	uint64_t start, in_use;
};

/* Below its stack pointer a thread's stack holds return addresses of finished calls.  No thread
 * returns to a stack whose thread has ended. */
static struct search_area find_area(const struct proof *self, size_t index)
{
	const struct mapping *mapping = &self->maps->items[index];
	uint64_t lowest = lowest_stack(self, mapping->start, mapping->end);
	struct thread_stack stack = { mapping->start, mapping->end, false };

	if (strcmp(mapping->path, "[stack]") &&
	    !thread_stack_find(self->tracer.memory, self->maps, index,
			       lowest == UINT64_MAX ? 0 : lowest, &stack))
		return (struct search_area){ mapping->start, mapping->start };
	if (stack.is_free)
		return (struct search_area){ stack.end, stack.end };
	lowest = lowest_stack(self, stack.start, stack.end);
	return (struct search_area){ mapping->start,
				     lowest == UINT64_MAX ? mapping->start : lowest & ~7ull };
}

static bool is_limpets(const struct proof *self, uint64_t address)
{
	uint64_t region = self->attachment->resident.page.context - REGION_DATA;

	return range_has(self->agent, address) || range_has(self->tracer.all, address) ||
	       range_has((struct range){ region, region + REGION_SIZE }, address);
}

/* Searches the pages that the program uses, one after the other. */
struct search {
	int pagemap;
	uint64_t bytes;  /* that were read */
	uint64_t found;  /* address of a word that leads into the tracer; 0: none */
	uint64_t flying; /* address of a frame of a call in flight; 0: none */
};

/* `in_use`: as in struct search_area. */
static bool search_page(const struct proof *self, struct search *search, struct range page,
			uint64_t in_use)
{
	uint64_t words[PIECE_WORDS];

	for (uint64_t at = page.start; at < page.end; at += sizeof(words)) {
		size_t size = MIN(sizeof(words), page.end - at), count = size / sizeof(words[0]);
		size_t unused = at < in_use ? MIN(count, (in_use - at) / sizeof(words[0])) : 0;

		/* Unmapped since: skipped. */
		if (!memory_read(self->tracer.memory, at, words, size))
			continue;
		search->bytes += size;
		if (tracer_frame_find(&self->tracer, at, words, unused, &search->flying) ||
		    tracer_words_find(&self->tracer, at + unused * sizeof(words[0]), words + unused,
				      count - unused, &search->found))
			return false;
	}
	return search->bytes < SEARCH_MAX;
}

/* False: something was found, or the limit is reached. */
static bool search_range(const struct proof *self, struct search *search, struct range range,
			 uint64_t in_use)
{
	uint64_t entries[PAGES_AT_ONCE], page = self->page;

	for (uint64_t first = range.start & ~(page - 1); first < range.end;
	     first += PAGES_AT_ONCE * page) {
		uint64_t count = MIN((range.end - first) / page, (uint64_t)PAGES_AT_ONCE);
		ssize_t size = (ssize_t)(count * sizeof(entries[0]));

		if (pread(search->pagemap, entries, (size_t)size,
			  (off_t)(first / page * sizeof(entries[0]))) != size)
			return false;
		for (uint64_t i = 0; i < count; i++)
			if (entries[i] & PAGE_IN_USE && !is_limpets(self, first + i * page) &&
			    !search_page(self, search,
					 (struct range){ MAX(range.start, first + i * page),
							 first + (i + 1) * page },
					 in_use))
				return false;
	}
	return true;
}

static uint64_t mapped_bytes(const struct proof *self)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < self->maps->count; i++)
		if (is_searched(&self->maps->items[i]))
			bytes += self->maps->items[i].end - self->maps->items[i].start;
	return bytes;
}

static bool search_all(const struct proof *self, struct search *search)
{
	bool is_clear = mapped_bytes(self) <= SPACE_MAX;

	for (size_t i = 0; is_clear && i < self->maps->count; i++) {
		const struct mapping *mapping = &self->maps->items[i];
		struct search_area area;

		if (!is_searched(mapping))
			continue;
		area = find_area(self, i);
		is_clear = search_range(self, search, (struct range){ area.start, mapping->end },
					area.in_use);
	}
	return is_clear;
}

static void search_memory(const struct proof *self)
{
	struct search search = { 0 };
	char path[64];
	bool is_clear;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", self->pid);
	search.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	is_clear = search.pagemap >= 0 && search_all(self, &search);
	if (search.pagemap >= 0)
		close(search.pagemap);
	if (search.flying)
		session_left_add(self->left,
				 TRACER_NAME ": a suspended coroutine or an interrupted function "
					     "has not returned from a traced call, its frame is at "
					     "0x%llx" AGAIN,
				 (unsigned long long)search.flying, self->pid);
	else if (search.found)
		session_left_add(self->left,
				 TRACER_NAME
				 ": the program's memory holds an address in it, at 0x%llx: a "
				 "suspended coroutine or thread may return there" AGAIN,
				 (unsigned long long)search.found, self->pid);
	else if (!is_clear)
		session_left_add(self->left, TRACER_NAME
				 ": the program's memory is too large, or cannot be searched for "
				 "addresses that lead to it");
}

bool tracer_can_unload(const struct attachment *attachment)
{
	const struct agent_page *page = &attachment->resident.page;

	return page_tracer(page) && !page->tracer_stays[0];
}

void tracer_find_reasons(const struct attachment *attachment, const struct maps *maps,
			 struct session_left *left)
{
	const struct agent_page *page = &attachment->resident.page;
	struct proof proof = { .attachment = attachment,
			       .maps = maps,
			       .left = left,
			       .pid = attachment->target.process.pid,
			       .page = (uint64_t)sysconf(_SC_PAGESIZE),
			       .tracer.memory = attachment->target.memory };

	if (!page_tracer(page))
		return;
	if (page->tracer_stays[0])
		session_left_add(left, TRACER_NAME ": %.*s", AGENT_STAYS_MAX - 1,
				 page->tracer_stays);
	else if (!find_libraries(&proof))
		session_left_add(left, TRACER_NAME ": its code cannot be found in memory");
	else if (judge_threads(&proof))
		search_memory(&proof);
	free(proof.stacks);
}
