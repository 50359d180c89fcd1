/*
 * A new process cannot be attached to at once.
 *
 * A forked child is still inside fork. There libc resets its locks, without waking waiting threads,
 * and repairs its list of threads: limpet's thread would wait for ever, or read a broken list.
 *
 * An executed program is still inside the dynamic linker, which runs the constructors of its
 * libraries: limpet's would be loaded in between, before libraries that tools may need.
 */
#include "injector/injector.h"

#include <sys/syscall.h>

/* Limits of CPU time for these. After them, a word on the stack that points into fork is stale, and
 * a program without __libc_start_main is just unusual. */
#define FORK_CPU_NS  5000000ull
#define START_CPU_NS 2000000000ull

#define NEAR_BYTES 0x8000ull
#define FAR_BYTES  0x100000ull

/* Calls made by fork and the dynamic linker; a thread that waits in any other call has left
 * these. */
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
		if (thread_may_be_inside(self, self->job->libc.forks[i], NEAR_BYTES))
			return true;
	return false;
}

/* The process's first thread runs on the main stack; a child forked by another thread does not. */
static bool is_on_main_stack(const struct stopped *self)
{
	const struct job_stack *stack = stack_at(self->job, arch_stack_pointer(&self->state.regs));

	return stack && stack->is_main;
}

static bool is_in_linker(const struct stopped *self)
{
	return self->job->libc.start.end && is_on_main_stack(self) &&
	       !thread_may_be_inside(self, self->job->libc.start, FAR_BYTES);
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
