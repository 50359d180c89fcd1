/*
 * Tests whether memory can be read: the kernel reads a signal mask from there, and then rejects the
 * operation's number. libc makes this call all the time, so filters allow it; other calls that
 * would do (mincore, process_vm_readv) may kill.
 */
#pragma once

#include "shared/arch/elf.h"
#include "shared/arch/syscall.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define READABLE_NO_SUCH_ORDER 99

/* Tests the eight bytes at the address, without its tag, which the kernel may refuse. */
static inline bool is_readable(uint64_t address)
{
	return raw4(SYS_rt_sigprocmask, READABLE_NO_SUCH_ORDER, address & ~ARCH_TAG_MASK, 0, 8) ==
	       -EINVAL;
}
