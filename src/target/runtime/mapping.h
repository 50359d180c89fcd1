/*
 * Maps memory for limpet in the target, and reads memory of the target: system calls only.
 */
#pragma once

#include "shared/arch/syscall.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/uio.h>

/* Zeroed memory, NULL: there is none. flags: further ones of mmap, MAP_NORESERVE for memory that is
 * mostly never touched. */
static inline void *memory_map(size_t size, int flags)
{
	long r = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

/* NULL: nothing is unmapped. */
static inline void memory_unmap(void *memory, size_t size)
{
	if (memory)
		raw2(SYS_munmap, memory, size);
}

/* Has the kernel read memory that may be unmapped; returns the number of bytes, or -errno. By
 * thread ID: the first thread, whose ID the process has, may have ended. */
static inline long memory_read(const void *from, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(unsigned long)from, size };

	return raw6(SYS_process_vm_readv, raw0(SYS_gettid), &local, 1, &remote, 1, 0);
}
