/*
 * The last checks before the first change, while the thread is stopped: is this still the program
 * that the host examined, is its libc initialized, is there memory for the emergency frame that
 * certainly belongs to the thread? A refusal costs the target only the stop.
 */
#include "injector/injector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACK_SPARE      4096
#define FRESH_SIZE       0x10000ull /* a frame, in whole pages of any size */
#define FRESH_PAGES_MAX  16
#define MARKED_PAGES_MAX 4096 /* of a stack, searched for guards */
#define PAGE_IS_GUARD    (1ull << 58)
#define PAGE_IN_USE      (3ull << 62) /* present or swapped, in /proc/PID/pagemap */
#define SEARCH_BYTES     0x4000u
#define FLAGS_KNOWN      0x80000003u /* of stack_t: on it, disabled, autodisarm */
#define SIZE_MIN         2048u       /* of a signal stack, the kernel's minimum */

/* Sixteen bytes that change with each exec. The descriptor belongs to the program that ran when it
 * was opened, so the read fails after an exec. */
bool same_program(const struct stopped *self)
{
	unsigned char random[16];

	return !memory_read(self, self->job->facts.random_address, random, sizeof(random)) &&
	       !memcmp(random, self->job->facts.random, sizeof(random));
}

/* libc stores the program's name during initialization; before that the word points into libc, and
 * before relocation it holds an offset in libc's file. */
static bool libc_is_ready(const struct stopped *self)
{
	const struct job *job = self->job;
	uint64_t word;

	if (memory_read(self, job->libc.init_word, &word, sizeof(word)))
		return false;
	return word > job->libc.end - job->libc.begin &&
	       (word < job->libc.begin || word >= job->libc.end);
}

/* Binary search: there may be as many stacks as threads, and a stopped thread waits for the
 * result. */
const struct job_stack *stack_at(const struct job *job, uint64_t address)
{
	uint32_t low = 0, high = job->stack_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (job->stacks[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < job->stack_count && job->stacks[low].start <= address ? &job->stacks[low]
									   : NULL;
}

/* Reads the kernel's page map; false if it is unreadable. */
static bool read_notes(const struct job *job, uint64_t start, uint64_t *entries, size_t count)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[64];
	ssize_t r;
	int fd;

	/* By thread: the first thread may have ended, and then has no memory. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/pagemap", job->pid, job->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	r = pread(fd, entries, count * sizeof(entries[0]),
		  (off_t)(start / page * sizeof(entries[0])));
	close(fd);
	return r == (ssize_t)(count * sizeof(entries[0]));
}

/* glibc 2.42 marks guard pages inside a mapping (MADV_GUARD_INSTALL), so that the stacks of several
 * threads may be one mapping. The thread's own stack lies between the guard below its stack pointer
 * and its thread block. */
static bool has_marked_guard(const struct job *job, const struct job_stack *stack, uint64_t pointer,
			     uint64_t block)
{
	static uint64_t entries[MARKED_PAGES_MAX];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = MAX(stack->start, ALIGN_DOWN(block, page) - (MARKED_PAGES_MAX - 1) * page);
	size_t count = (ALIGN_DOWN(block, page) - start) / page + 1, at = count;

	if (!read_notes(job, start, entries, count))
		return false;
	while (at > 0 && !(entries[at - 1] & PAGE_IS_GUARD))
		at--;
	return at > 0 && pointer >= start + at * page + ARCH_FRAME_MAX + STACK_SPARE;
}

/* True if these words, found at `here`, describe a part of the stack that contains both `here` and
 * the pointer. */
static bool words_describe(const uint64_t words[3], uint64_t here, uint64_t pointer,
			   const struct job_stack *stack)
{
	uint64_t base = words[0], size = words[2];

	return base >= stack->start && base <= pointer && size >= SIZE_MIN &&
	       size <= stack->end - base && here - base < size &&
	       !((uint32_t)words[1] & ~FLAGS_KNOWN);
}

/* A signal handler may run on a stack of its own (sigaltstack), which may be a local array inside
 * the thread's stack: then memory below its end is in use. The kernel stores the location of that
 * stack in the signal frame that it lays there, above the stack pointer. */
static bool is_on_signal_stack(const struct stopped *self, const struct job_stack *stack)
{
	static uint64_t words[SEARCH_BYTES / sizeof(uint64_t)];
	uint64_t pointer = arch_stack_pointer(&self->state.regs), start = ALIGN_UP(pointer, 8);
	size_t count = MIN(SEARCH_BYTES, stack->end - start) / sizeof(words[0]);

	if (memory_read(self, start, words, count * sizeof(words[0])))
		return false;
	for (size_t i = 0; i + 2 < count; i++)
		if (words_describe(words + i, start + i * sizeof(words[0]), pointer, stack))
			return true;
	return false;
}

/* The usual case: the first thread runs on the main stack, another one (or a child forked by it) on
 * the mapping that contains its thread block above, with a guard below: nothing else can be in
 * it. */
static bool stands_on_own_stack(const struct stopped *self)
{
	const struct job *job = self->job;
	uint64_t pointer = arch_stack_pointer(&self->state.regs),
		 block = self->state.thread_pointer;
	const struct job_stack *stack = stack_at(job, pointer);

	if (!stack || pointer - stack->start < ARCH_FRAME_MAX + STACK_SPARE ||
	    is_on_signal_stack(self, stack))
		return false;
	if (stack->is_main)
		return job->tid == job->leader;
	return block > pointer && stack_at(job, block) == stack &&
	       (stack->has_guard || has_marked_guard(job, stack, pointer, block));
}

/* True if none of these pages has ever been written. */
static bool is_untouched(const struct job *job, uint64_t start, uint64_t size)
{
	uint64_t entries[FRESH_PAGES_MAX];
	size_t count = size / (uint64_t)sysconf(_SC_PAGESIZE);

	if (count > FRESH_PAGES_MAX || !read_notes(job, start, entries, count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (entries[i] & PAGE_IN_USE)
			return false;
	return true;
}

/* The stack that the thread was created with. */
static const struct job_stack *birth_stack(const struct stopped *self)
{
	const struct job *job = self->job;

	for (uint32_t i = job->stack_count; job->tid == job->leader && i-- > 0;)
		if (job->stacks[i].is_main) /* the kernel maps it at a high address */
			return &job->stacks[i];
	return stack_at(job, self->state.thread_pointer);
}

/* A program that switches stacks itself (goroutines, coroutines) has other data right below the
 * stack pointer. But the stack that the thread was created with is still mapped, and its far end
 * was never used, except by limpet. */
static uint64_t find_fresh_top(const struct stopped *self)
{
	const struct job_stack *stack = birth_stack(self);
	uint64_t pointer = arch_stack_pointer(&self->state.regs);

	if (!stack || !(stack->is_main || stack->has_guard) ||
	    stack->end - stack->start < 2 * FRESH_SIZE ||
	    (pointer >= stack->start && pointer < stack->start + 2 * FRESH_SIZE))
		return 0;
	/* In this order: reading an unused page makes the kernel map one. */
	if (!is_untouched(self->job, stack->start, FRESH_SIZE) &&
	    !window_is_limpets(self, stack->start + FRESH_SIZE))
		return 0;
	return stack->start + FRESH_SIZE;
}

/* Finds memory for the emergency frame that certainly belongs to the thread. */
static bool find_frame_top(struct stopped *self)
{
	if (stands_on_own_stack(self))
		self->frame_top = arch_stack_pointer(&self->state.regs) - ARCH_RED_ZONE;
	else if ((self->window_top = find_fresh_top(self)))
		self->frame_top = self->window_top - sizeof(uint64_t); /* the window's checksum */
	return self->frame_top != 0;
}

/* glibc: the word taken for the thread's ID must hold it, else the layout of the block is wrong. In
 * a child that has inherited the agent, the layout was proven in its parent, and after a bare
 * clone, unknown to libc, the word still holds the parent's ID. */
bool block_is_understood(const struct stopped *self)
{
	int32_t tid;

	if (self->job->way != BOOT_WAY_THREAD || self->job->facts.is_inherited)
		return true;
	return !memory_read(self,
			    self->state.thread_pointer + (uint64_t)self->job->facts.tid_offset,
			    &tid, sizeof(tid)) &&
	       tid == self->job->inner_tid;
}

/* musl: the thread itself will call libc, so it must still be in the same wait that the host saw,
 * in which it holds none of libc's locks. */
static bool may_call_libc(const struct stopped *self)
{
	const struct blocked_call *seen = &self->job->seen;
	const struct user_regs_struct *regs = &self->back.regs;

	return self->job->way != BOOT_WAY_CALL || (self->back.was_in_call && seen->is_known &&
						   arch_instruction_pointer(regs) == seen->ip &&
						   arch_stack_pointer(regs) == seen->stack);
}

int gate_check(struct stopped *self)
{
	struct job *job = self->job;

	if (!same_program(self))
		return job_fail(job, JOB_GONE, ESTALE);
	if (!job->is_at_doorstep && !libc_is_ready(self))
		return job_fail(job, JOB_TOO_EARLY, 0);
	if (!find_frame_top(self))
		return job_fail(job, JOB_NO_STACK, 0);
	if (!block_is_understood(self) || !may_call_libc(self) || sequence_is_running(self) ||
	    calls_are_dispatched(self))
		return job_fail(job, JOB_LEAVE_ALONE, 0);
	if (newborn_check(self) || switch_check(self) || heap_check(self))
		return -1;
	return seccomp_check(self);
}
