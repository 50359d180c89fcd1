/*
 * The last questions before the first change, asked while the thread is stopped: is this still the program that
 * the host looked at, is its libc ready, is there a place for the emergency frame that surely belongs to the
 * thread?  A no costs the target nothing but the stop.
 */
#include "injector/injector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACK_SPARE           4096
#define THREAD_BLOCK_DISTANCE (256ull << 20) /* how far above its stack pointer a thread's block can be */

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

	return same_auxv(self->job) && !memory_read(self, self->job->random_address, random, sizeof(random)) &&
	       !memcmp(random, self->job->random, sizeof(random));
}

/* libc stores the program's name while it initialises itself; before that the word points into libc or nowhere. */
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

/* Programs that switch stacks by themselves (goroutines, coroutines) have other data right below the stack
 * pointer.  We accept only the main stack, and memory that holds the thread's own block above. */
static bool stack_is_own(const struct stopped *self)
{
	uint64_t pointer = arch_stack_pointer(&self->state.regs), block = self->state.thread_pointer;
	const struct job_stack *stack = stack_at(self->job, pointer);

	if (!stack || pointer - stack->start < ARCH_FRAME_MAX + STACK_SPARE)
		return false;
	return stack->is_main ||
	       (block > pointer && block - pointer < THREAD_BLOCK_DISTANCE && stack_at(self->job, block) == stack);
}

/* glibc: the word that we take for the thread's number must hold it, or we misread the thread block. */
static bool block_is_understood(const struct stopped *self)
{
	int32_t tid;

	if (self->job->way != BOOT_WAY_THREAD)
		return true;
	return !memory_read(self, self->state.thread_pointer + (uint64_t)self->job->tid_offset, &tid, sizeof(tid)) &&
	       tid == self->job->inner_tid;
}

/* musl: the thread itself will call libc, so it must be in a call that holds none of libc's locks. */
static bool may_call_libc(const struct stopped *self)
{
	return self->job->way != BOOT_WAY_CALL || (self->back.was_in_call && self->job->seen.is_known &&
	                                           self->back.nr == self->job->seen.nr);
}

int gate_check(struct stopped *self)
{
	struct job *job = self->job;

	if (!same_program(self))
		return job_fail(job, JOB_GONE, ESTALE);
	if (!libc_is_ready(self))
		return job_fail(job, JOB_TOO_EARLY, 0);
	if (!stack_is_own(self))
		return job_fail(job, JOB_NO_STACK, 0);
	if (!block_is_understood(self) || !may_call_libc(self))
		return job_fail(job, JOB_LEAVE_ALONE, 0);
	return job->has_filters ? seccomp_check(self) : 0;
}
