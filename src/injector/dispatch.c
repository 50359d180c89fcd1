/*
 * Syscall user dispatch: a thread may redirect its system calls to a handler of its own, as Wine
 * does with those of Windows programs. A byte of the thread's switches that. A system call of
 * limpet's would be redirected, too, as a SIGSYS, which kills a process that blocks it.
 */
#include "injector/injector.h"

#include <sys/ptrace.h>

#define GET_CONFIGURATION 0x4211 /* PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, Linux 6.4 */

/* struct ptrace_sud_config */
struct configuration {
	uint64_t mode, selector, start, size;
};

/* System calls from one range of code are exempt; limpet also calls from new memory, so only the
 * byte counts. */
bool calls_are_dispatched(const struct stopped *self)
{
	struct configuration configuration = { 0 };
	unsigned char is_dispatched = 1;

	if (ptrace((enum __ptrace_request)GET_CONFIGURATION, self->job->tid, sizeof(configuration),
		   &configuration) ||
	    !configuration.mode)
		return false;
	return !configuration.selector ||
	       memory_read(self, configuration.selector, &is_dispatched, 1) || is_dispatched;
}
