/*
 * Restartable sequences (rseq): a thread preempted inside one restarts it, at an address that it
 * has named. Allocators use these for per-processor lists without locks. The kernel checks the
 * thread's program counter when it returns to user mode. During the injector's work the counter is
 * elsewhere, the kernel clears the sequence, and after its restoration the thread would finish the
 * sequence with data that others have changed. So such a thread is released unchanged, and the
 * kernel restarts its sequence.
 */
#include "injector/injector.h"

#include <sys/ptrace.h>

#define GET_CONFIGURATION 0x420f /* PTRACE_GET_RSEQ_CONFIGURATION, Linux 5.13 */
#define SECTION_OFFSET    8      /* in struct rseq: the address of the section's description */

/* struct ptrace_rseq_configuration */
struct configuration {
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
	struct configuration configuration = { 0 };

	if (ptrace((enum __ptrace_request)GET_CONFIGURATION, self->job->tid, sizeof(configuration),
		   &configuration) > 0)
		return configuration.area;
	return self->job->rseq_offset
		       ? self->state.thread_pointer + (uint64_t)self->job->rseq_offset
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
