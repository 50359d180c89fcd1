/*
 * A process that was just born is not ready for us at once.
 *
 * A forked child is still inside fork.  There libc declares its locks free, without waking anybody
 * who waits for one, and tidies up the list of its threads: a thread of ours would wait for ever,
 * or meet the list in pieces.
 *
 * A new program is still in the hands of the dynamic linker, which runs the constructors of its
 * libraries: ours would be loaded beside them, and tools may need what is not constructed yet.
 */
#include "injector/injector.h"

#include <sys/syscall.h>

/* How long these may take, on a processor.  Later a word on the stack that looks like a return into
 * fork is a leftover, and a program without __libc_start_main just a strange one. */
#define FORK_CPU_NS  5000000ull
#define START_CPU_NS 2000000000ull

#define NEAR_BYTES 0x8000ull
#define FAR_BYTES  0x100000ull

/* What fork and the dynamic linker call; a thread that waits in any other call has left them. */
static bool is_early_call(long nr)
{
	static const long calls[] = {
		SYS_clone,   SYS_clone3,     SYS_set_robust_list, SYS_rt_sigprocmask,
		SYS_futex,   SYS_gettid,     SYS_getpid,          SYS_brk,
		SYS_mmap,    SYS_munmap,     SYS_openat,          SYS_mprotect,
		SYS_madvise, SYS_newfstatat, SYS_fstat,           SYS_read,
		SYS_pread64, SYS_close,      SYS_execve,          SYS_execveat,
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i] == nr)
			return true;
	return false;
}

bool thread_may_be_in_fork(const struct stopped *self)
{
	for (unsigned i = 0; i < JOB_FORKS_MAX; i++)
		if (thread_may_be_inside(self, self->job->forks[i], NEAR_BYTES))
			return true;
	return false;
}

/* The thread that the kernel made stands on the kernel's stack; a child of another one does not. */
static bool is_on_main_stack(const struct stopped *self)
{
	const struct job_stack *stack = stack_at(self->job, arch_stack_pointer(&self->state.regs));

	return stack && stack->is_main;
}

static bool is_in_linker(const struct stopped *self)
{
	return self->job->start.end && is_on_main_stack(self) &&
	       !thread_may_be_inside(self, self->job->start, FAR_BYTES);
}

int newborn_check(struct stopped *self)
{
	struct job *job = self->job;

	if (!job->is_alone || (self->back.was_in_call && !is_early_call(self->back.nr)))
		return 0;
	if (job->cpu_ns < FORK_CPU_NS && thread_may_be_in_fork(self))
		return job_fail(job, JOB_LEAVE_ALONE, 0);
	if (job->cpu_ns < START_CPU_NS && is_in_linker(self))
		return job_fail(job, JOB_TOO_EARLY, 0);
	return 0;
}
