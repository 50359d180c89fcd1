/*
 * A single-threaded process becomes multi-threaded. While a process has one thread, glibc uses no
 * locks; pthread_create ends that, and expects that this one thread calls it, at a point of its own
 * choosing. The injector starts a thread beside it, so it ensures three things: the thread is not
 * inside calloc, which checks twice and would release a lock that it never acquired; it stays
 * stopped until the common flag is changed; and the injector sets its own flag, if glibc has one
 * per thread. Without it malloc and free on x86-64 change shared heap lists by an unlocked cmpxchg.
 */
#include "injector/injector.h"

#include <sys/syscall.h>
#include <time.h>

#define STACK_BYTES    0x8000ull
#define HOLD_LIMIT_NS  2000000ull    /* for a sleeping thread of limpet's */
#define READY_LIMIT_NS 1000000000ull /* for one that waits for a processor */
#define HOLD_STEP_NS   20000

uint64_t flag_address(const struct stopped *self)
{
	return self->state.thread_pointer + (uint64_t)self->job->facts.flag_offset;
}

static bool has_own_flag(const struct stopped *self)
{
	uint32_t flag = 0;

	return !self->job->facts.has_flag_in_block ||
	       (!memory_read(self, flag_address(self), &flag, sizeof(flag)) && flag);
}

static bool is_common_flag_set(const struct stopped *self)
{
	unsigned char is_single = 1;

	return !self->job->facts.single.common[0] ||
	       (!memory_read(self, self->job->facts.single.common[0], &is_single, 1) && !is_single);
}

uint32_t single_due(const struct job *job)
{
	const struct job_single *words = &job->facts.single;

	return SINGLE_DUE | (words->common[0] ? SINGLE_DUE_COMMON : 0) |
	       (words->common[1] ? SINGLE_DUE_COMMON << 1 : 0) |
	       (words->stdio ? SINGLE_DUE_STDIO : 0);
}

/* An earlier attach has left its mark: it could not restore the words, or was killed before. Its
 * region may be unmapped by now. */
static bool find_mark(const struct stopped *self)
{
	const struct job_single *known = &self->job->single_known;
	struct job_single *words = &self->job->facts.single;
	uint32_t flag = 0;

	if (!self->job->facts.has_flag_in_block ||
	    memory_read(self, flag_address(self), &flag, sizeof(flag)) ||
	    (flag & ~(uint32_t)SINGLE_DUE_ALL) != SINGLE_MARK)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words->common); i++)
		if (flag & SINGLE_DUE_COMMON << i)
			words->common[i] = known->common[i];
	if (flag & SINGLE_DUE_STDIO)
		words->stdio = known->stdio;
	return true;
}

bool is_allocators_call(long nr)
{
	return nr == SYS_brk || nr == SYS_mmap || nr == SYS_munmap || nr == SYS_mremap ||
	       nr == SYS_madvise || nr == SYS_futex;
}

int switch_check(struct stopped *self)
{
	struct job *job = self->job;
	bool is_marked = job->is_alone && find_mark(self);

	if (!job->is_alone)
		return 0;
	self->must_switch = !has_own_flag(self) || !is_common_flag_set(self);
	job->has_switched = self->must_switch || is_marked;
	if (!self->must_switch || (self->back.was_in_call && !is_allocators_call(self->back.nr)))
		return 0;
	return thread_may_be_inside(self, job->libc.calloc, STACK_BYTES)
		       ? job_fail(job, JOB_LEAVE_ALONE, 0)
		       : 0;
}

int switch_begin(struct stopped *self)
{
	uint32_t flag = SINGLE_MARK | single_due(self->job);

	if (!self->must_switch || !self->job->facts.has_flag_in_block)
		return 0;
	return memory_write(self, flag_address(self), &flag, sizeof(flag));
}

/* A sleeping thread of limpet's may wait for a lock that the stopped thread holds. A runnable one
 * only waits for a processor, on a busy machine for longer: if the stopped thread continued, it
 * would allocate without a lock beside limpet's, which allocates as soon as it runs. */
static bool is_worth_holding(const struct stopped *self, uint64_t held_ns)
{
	return held_ns < HOLD_LIMIT_NS ||
	       (held_ns < READY_LIMIT_NS && threads_count(self->job, thread_is_other_runnable));
}

void switch_hold(struct stopped *self)
{
	uint64_t begin_ns = wait_clock_ns();
	struct timespec pause = { 0, HOLD_STEP_NS };

	while (self->must_switch && !is_common_flag_set(self) &&
	       is_worth_holding(self, wait_clock_ns() - begin_ns))
		nanosleep(&pause, NULL);
}
