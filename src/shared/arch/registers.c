/*
 * The machines' common part: registers as the regset NT_PRSTATUS.
 */
#include "shared/arch/registers.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

int arch_get_regs(pid_t tid, struct user_regs_struct *ret)
{
	struct iovec io = { ret, sizeof(*ret) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io))
		return -errno;
	/* A 32-bit thread has a smaller set. */
	return io.iov_len == sizeof(*ret) ? 0 : -ENOEXEC;
}

int arch_set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	struct iovec io = { (void *)(uintptr_t)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &io) ? -errno : 0;
}
