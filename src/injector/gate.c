/*
 * The last questions before the first change, asked while the thread is stopped: is this still the
 * program that the host looked at, is its libc ready, is there a place for the emergency frame that
 * surely belongs to the thread?  A no costs the target nothing but the stop.
 */
#include "injector/injector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACK_SPARE 4096
#define THREAD_BLOCK_DISTANCE \
	(256ull << 20)             /* how far above its stack pointer a thread's block can be */
#define FRESH_SIZE      0x10000ull /* a frame, rounded up to whole pages of any size */
#define FRESH_PAGES_MAX 16
#define PAGE_IN_USE     (3ull << 62) /* present or swapped, in /proc/PID/pagemap */

static bool same_auxv(const struct job *job)
{
	unsigned char now[JOB_AUXV_MAX];
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", job->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, now, sizeof(now));
	close(fd);
	return size == (ssize_t)job->auxv_size && !memcmp(now, job->auxv, job->auxv_size);
}

static bool same_program(const struct stopped *self)
{
	unsigned char random[16];

	return same_auxv(self->job) &&
	       !memory_read(self, self->job->random_address, random, sizeof(random)) &&
	       !memcmp(random, self->job->random, sizeof(random));
}

/* libc stores the program's name while it initialises itself; before that the word points into libc
 * or nowhere. */
static bool libc_is_ready(const struct stopped *self)
{
	const struct job *job = self->job;
	uint64_t word;

	if (memory_read(self, job->init_word, &word, sizeof(word)))
		return false;
	return word && (word < job->libc_start || word >= job->libc_end);
}

static const struct job_stack *stack_at(const struct job *job, uint64_t address)
{
	for (uint32_t i = 0; i < job->stack_count; i++)
		if (address >= job->stacks[i].start && address < job->stacks[i].end)
			return &job->stacks[i];
	return NULL;
}

/* The usual case: the thread stands on the main stack, or on memory that holds its own block above.
 */
static bool stands_on_own_stack(const struct stopped *self)
{
	uint64_t pointer = arch_stack_pointer(&self->state.regs),
		 block = self->state.thread_pointer;
	const struct job_stack *stack = stack_at(self->job, pointer);

	if (!stack || pointer - stack->start < ARCH_FRAME_MAX + STACK_SPARE)
		return false;
	return stack->is_main || (block > pointer && block - pointer < THREAD_BLOCK_DISTANCE &&
				  stack_at(self->job, block) == stack);
}

/* True when none of these pages has ever been written. */
static bool is_untouched(const struct job *job, uint64_t start, uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), entries[FRESH_PAGES_MAX];
	size_t count = size / page;
	char path[64];
	ssize_t r;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", job->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || count > FRESH_PAGES_MAX)
		return false;
	r = pread(fd, entries, count * sizeof(entries[0]),
		  (off_t)(start / page * sizeof(entries[0])));
	close(fd);
	for (size_t i = 0; i < count; i++)
		if (entries[i] & PAGE_IN_USE)
			return false;
	return r == (ssize_t)(count * sizeof(entries[0]));
}

/* Our mark at the end of a window that an earlier visit used: nobody has been there since. */
static bool is_marked(const struct stopped *self, uint64_t top)
{
	uint64_t mark = 0;

	return !memory_read(self, top - sizeof(mark), &mark, sizeof(mark)) && mark == BOOT_MAGIC;
}

/* The stack that the thread was born with. */
static const struct job_stack *birth_stack(const struct stopped *self)
{
	const struct job *job = self->job;

	for (uint32_t i = 0; job->tid == job->leader && i < job->stack_count; i++)
		if (job->stacks[i].is_main)
			return &job->stacks[i];
	return stack_at(job, self->state.thread_pointer);
}

/* A program that switches stacks by itself (goroutines, coroutines) has other data right below the
 * stack pointer. But the stack that the thread was born with is still there, and its far end was
 * never used. */
static uint64_t find_fresh_top(const struct stopped *self)
{
	const struct job_stack *stack = birth_stack(self);
	uint64_t mark = BOOT_MAGIC, top;

	if (!stack || !(stack->is_main || stack->has_guard) ||
	    stack->end - stack->start < 2 * FRESH_SIZE)
		return 0;
	top = stack->start + FRESH_SIZE;
	if (!is_marked(self, top) && !is_untouched(self->job, stack->start, FRESH_SIZE))
		return 0;
	return memory_write(self, top - sizeof(mark), &mark, sizeof(mark)) ? 0 : top - sizeof(mark);
}

/* Undo needs a place: for the emergency frame, surely the thread's own. */
static bool find_frame_place(struct stopped *self)
{
	if (stands_on_own_stack(self))
		self->frame_top = arch_stack_pointer(&self->state.regs) - ARCH_RED_ZONE;
	else
		self->frame_top = find_fresh_top(self);
	return self->frame_top != 0;
}

/* glibc: the word that we take for the thread's number must hold it, or we misread the thread
 * block. */
static bool block_is_understood(const struct stopped *self)
{
	int32_t tid;

	if (self->job->way != BOOT_WAY_THREAD)
		return true;
	return !memory_read(self, self->state.thread_pointer + (uint64_t)self->job->tid_offset,
			    &tid, sizeof(tid)) &&
	       tid == self->job->inner_tid;
}

/* musl: the thread itself will call libc, so it must still be in the very wait that the host saw,
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
	if (!libc_is_ready(self))
		return job_fail(job, JOB_TOO_EARLY, 0);
	if (!find_frame_place(self))
		return job_fail(job, JOB_NO_STACK, 0);
	if (!block_is_understood(self) || !may_call_libc(self))
		return job_fail(job, JOB_LEAVE_ALONE, 0);
	return job->has_filters ? seccomp_check(self) : 0;
}
