/*
 * Whether memory can be read, asked of the kernel: it reads a signal mask from there, and then
 * finds that it was not told what to do with it.  libc makes this call all the time, so filters let
 * it pass; others that tell (mincore, process_vm_readv) may kill.
 */
#pragma once

#include "shared/arch/elf.h"
#include "shared/arch/syscall.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define READABLE_NO_SUCH_ORDER 99

/* The eight bytes at the address.  A tag, which the processor ignores, the kernel may refuse. */
static inline bool is_readable(uint64_t address)
{
	return raw4(SYS_rt_sigprocmask, READABLE_NO_SUCH_ORDER, address & ~ARCH_TAG_MASK, 0, 8) ==
	       -EINVAL;
}
