/*
 * Reading another process's memory without stopping it, and ELF objects found there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * A descriptor for reading, opened for writing too as the injector does.  The kernel checks the
 * same rights as for an attach, Yama and security modules included, so the result shows whether an
 * attach would be allowed: -EACCES when it would not.
 */
int memory_open(pid_t pid);

/* As process_vm_readv(), which waits where the process serves its memory itself: that is watched.
 */
ssize_t memory_copy(pid_t pid, const struct iovec *local, size_t local_count,
		    const struct iovec *remote, size_t remote_count);

/* The same from one address; the number of bytes, or -errno. */
ssize_t memory_copy_from(pid_t pid, uint64_t address, void *into, size_t size);
/* The same for a struct memory_reader: `pid` points to a pid_t.  0 when all bytes were read, else
 * -errno. */
int memory_read_process(void *pid, uint64_t address, void *into, size_t size);

/* True when all bytes were read.  A descriptor of -1 reads nothing. */
bool memory_read(int memory, uint64_t address, void *ret, size_t size);

/* The DT_SONAME of the 64-bit ELF object whose first page is at base; false when there is none. */
bool memory_soname(int memory, uint64_t base, char *ret, size_t capacity);
