/*
 * Threads of ours allocate from the program's main arena (target/runtime/arena.h).  Its lock keeps
 * them apart, with three exceptions: the thread that is stopped here may be in the allocator,
 * having taken no lock since it was alone; it may be in a signal handler, for long, while the lock
 * is held below; and it may be in fork, which asks before the program's handlers whether there are
 * threads, and only then sees to the lock: a child could be left with a lock that a thread of ours
 * held.  Then we come back a moment later; at last ours get arenas of their own.
 */
#include "injector/injector.h"

#define STACK_BYTES 0x8000ull

static struct boot_libc *image_libc(const struct stopped *self)
{
	return &((struct boot_context *)(self->job->image + DATA_CONTEXT))->libc;
}

/* The lock is the first that an arena has. */
static bool is_locked(const struct stopped *self, uint64_t arena)
{
	uint32_t lock = 1;

	return memory_read(self, arena, &lock, sizeof(lock)) || lock;
}

static bool is_in_handler(const struct stopped *self)
{
	struct job_code back = { self->job->sigreturn, self->job->sigreturn + 1 };

	return thread_may_be_inside(self, back, STACK_BYTES);
}

bool heap_may_be_entered(const struct stopped *self)
{
	bool waits = self->back.was_in_call && !is_allocators_call(self->back.nr);

	/* What a handler has interrupted may be on another stack. */
	if (!self->job->heap.end || is_in_handler(self))
		return true;
	if (waits)
		return false;
	return thread_may_be_inside(self, self->job->heap, STACK_BYTES);
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

/* The starter's word: new, or from an earlier visit. */
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
