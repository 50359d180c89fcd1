/*
 * limpet's threads allocate from the process's main arena (target/runtime/arena.h), whose lock
 * protects it, with three exceptions: the stopped thread may be in the allocator without the lock,
 * which it skipped while it was the only thread; it may be in a signal handler, for long, that
 * interrupted code with the lock; and it may be in fork, which checks for other threads before its
 * handlers run, and only then acquires the lock: a child could inherit a lock held by limpet's
 * thread. Then the host retries a moment later; at last limpet's threads get arenas of their own.
 */
#include "injector/injector.h"

#define STACK_BYTES 0x8000ull

static struct boot_libc *image_libc(const struct stopped *self)
{
	return &((struct boot_context *)(self->job->image + DATA_CONTEXT))->libc;
}

/* The lock is the first field of an arena. */
static bool is_locked(const struct stopped *self, uint64_t arena)
{
	uint32_t lock = 1;

	return memory_read(self, arena, &lock, sizeof(lock)) || lock;
}

static bool is_in_handler(const struct stopped *self)
{
	struct job_code back = { self->job->facts.sigreturn, self->job->facts.sigreturn + 1 };

	return thread_may_be_inside(self, back, STACK_BYTES);
}

bool heap_may_be_entered(const struct stopped *self)
{
	bool waits = self->back.was_in_call && !is_allocators_call(self->back.nr);

	/* The code interrupted by a handler may be on another stack. */
	if (!self->job->facts.heap.end || is_in_handler(self))
		return true;
	if (waits)
		return false;
	return thread_may_be_inside(self, self->job->facts.heap, STACK_BYTES);
}

int heap_check(struct stopped *self)
{
	struct boot_libc *libc = image_libc(self);

	if (!libc->is_arena_shared ||
	    (!is_locked(self, libc->arena) &&
	     !(self->must_switch && (heap_may_be_entered(self) || thread_may_be_in_fork(self)))))
		return 0;
	if (self->job->waits_for_heap)
		return job_fail(self->job, JOB_LEAVE_ALONE, 0);
	libc->is_arena_shared = 0;
	return 0;
}

/* Sets the starter's word, in a new region or one of an earlier attach. */
int heap_lend(const struct stopped *self)
{
	const struct boot_libc *libc = image_libc(self);
	const struct job *job = self->job;
	uint64_t word = job->ret_region + job->thread_pointer + (uint64_t)libc->arena_word, arena;
	int r;

	if (!libc->arena)
		return 0;
	arena = libc->is_arena_shared ? libc->arena : 0;
	r = memory_write(self, word, &arena, sizeof(arena));
	return r ? job_fail(self->job, JOB_BROKEN, -r) : 0;
}
