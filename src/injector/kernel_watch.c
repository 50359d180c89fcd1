/*
 * Where the kernel watches the thread; such a thread is released unchanged.
 *
 * Restartable sequences (rseq): a thread preempted inside one restarts it, at an address that it
 * has named. Allocators use these for per-processor lists without locks. The kernel checks the
 * thread's program counter when it returns to user mode. During the injector's work the counter is
 * elsewhere, the kernel clears the sequence, and after its restoration the thread would finish the
 * sequence with data that others have changed.
 *
 * Syscall user dispatch: a thread may redirect its system calls to a handler of its own, as Wine
 * does with those of Windows programs. A byte of the thread's switches that. A system call of
 * limpet's would be redirected, too, as a SIGSYS, which kills a process that blocks it.
 */
#include "injector/injector.h"

#include <sys/ptrace.h>

#define GET_RSEQ       0x420f /* PTRACE_GET_RSEQ_CONFIGURATION, Linux 5.13 */
#define GET_DISPATCH   0x4211 /* PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, Linux 6.4 */
#define SECTION_OFFSET 8      /* in struct rseq: the address of the section's description */

/* struct ptrace_rseq_configuration */
struct rseq_configuration {
	uint64_t area;
	uint32_t size, signature, flags, pad;
};

/* struct rseq_cs */
struct section {
	uint32_t version, flags;
	uint64_t start, size, abort;
};

/* Before Linux 5.13 the kernel does not report it: then it is libc's area, if there is one. */
static uint64_t area_of(const struct stopped *self)
{
	struct rseq_configuration configuration = { 0 };

	if (ptrace((enum __ptrace_request)GET_RSEQ, self->job->tid, sizeof(configuration),
		   &configuration) > 0)
		return configuration.area;
	return self->job->libc.rseq_offset
		       ? self->state.thread_pointer + (uint64_t)self->job->libc.rseq_offset
		       : 0;
}

/* A thread in a system call is in no sequence: the kernel kills programs that make one there. */
bool sequence_is_running(const struct stopped *self)
{
	uint64_t ip = arch_instruction_pointer(&self->state.regs), address = 0;
	uint64_t area = self->back.was_in_call ? 0 : area_of(self);
	struct section section;

	if (!area || memory_read(self, area + SECTION_OFFSET, &address, sizeof(address)) ||
	    !address || memory_read(self, address, &section, sizeof(section)))
		return false;
	return ip - section.start < section.size;
}

/* struct ptrace_sud_config */
struct dispatch_configuration {
	uint64_t mode, selector, start, size;
};

/* System calls from one range of code are exempt; limpet also calls from new memory, so only the
 * byte counts. */
bool calls_are_dispatched(const struct stopped *self)
{
	struct dispatch_configuration configuration = { 0 };
	unsigned char is_dispatched = 1;

	if (ptrace((enum __ptrace_request)GET_DISPATCH, self->job->tid, sizeof(configuration),
		   &configuration) ||
	    !configuration.mode)
		return false;
	return !configuration.selector ||
	       memory_read(self, configuration.selector, &is_dispatched, 1) || is_dispatched;
}
