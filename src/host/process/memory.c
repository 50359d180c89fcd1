/*
 * Reads another process's memory.  Everything read is foreign and may change while it is read:
 * counts are bounded, addresses are only ever passed back to the kernel.
 */
#include "host/process/memory.h"

#include "host/core/threads/overdue.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEGMENTS 64
#define MAX_DYNAMIC  256

int memory_open(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

ssize_t memory_copy(pid_t pid, const struct iovec *local, size_t local_count,
		    const struct iovec *remote, size_t remote_count)
{
	ssize_t n;

	overdue_begin();
	n = process_vm_readv(pid, local, local_count, remote, remote_count, 0);
	overdue_end();
	return n;
}

ssize_t memory_copy_from(pid_t pid, uint64_t address, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = memory_copy(pid, &local, 1, &remote, 1);

	return n < 0 ? -errno : n;
}

int memory_read_process(void *pid, uint64_t address, void *into, size_t size)
{
	ssize_t n = memory_copy_from(*(pid_t *)pid, address, into, size);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* The number of bytes up to the end of the mapping; 0 when nothing is mapped. */
static size_t read_some(int memory, uint64_t address, void *ret, size_t size)
{
	ssize_t n;

	if (memory < 0 || address > INT64_MAX)
		return 0;
	overdue_begin();
	n = pread(memory, ret, size, (off_t)address);
	overdue_end();
	return n > 0 ? (size_t)n : 0;
}

bool memory_read(int memory, uint64_t address, void *ret, size_t size)
{
	return read_some(memory, address, ret, size) == size;
}

/* The address of the object's dynamic section, and the bias of its own addresses. */
static bool find_dynamic(int memory, uint64_t base, uint64_t *ret_address, uint64_t *ret_bias)
{
	Elf64_Ehdr header;
	Elf64_Phdr segments[MAX_SEGMENTS];
	uint64_t bias = base, dynamic = 0;

	if (!memory_read(memory, base, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(segments[0]) ||
	    header.e_phnum > MAX_SEGMENTS ||
	    !memory_read(memory, base + header.e_phoff, segments,
			 header.e_phnum * sizeof(segments[0])))
		return false;
	for (size_t i = header.e_phnum; i-- > 0;) {
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			bias = base - segments[i].p_vaddr;
		if (segments[i].p_type == PT_DYNAMIC)
			dynamic = segments[i].p_vaddr;
	}
	*ret_address = bias + dynamic;
	*ret_bias = bias;
	return dynamic != 0;
}

/* Where the name's text is: address of the string table plus its offset.  0 when there is no name.
 */
static uint64_t find_soname(int memory, uint64_t base)
{
	Elf64_Dyn entries[MAX_DYNAMIC];
	uint64_t address, bias, strings = 0, offset = 0;
	size_t count;

	if (!find_dynamic(memory, base, &address, &bias))
		return 0;
	count = read_some(memory, address, entries, sizeof(entries)) / sizeof(entries[0]);
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		if (entries[i].d_tag == DT_STRTAB)
			strings = entries[i].d_un.d_ptr;
		if (entries[i].d_tag == DT_SONAME)
			offset = entries[i].d_un.d_val;
	}
	if (!strings || !offset)
		return 0;
	/* glibc stores the relocated address in the section, musl keeps the file's. */
	return (strings < base ? strings + bias : strings) + offset;
}

bool memory_soname(int memory, uint64_t base, char *ret, size_t capacity)
{
	uint64_t address = find_soname(memory, base);
	size_t size = address ? read_some(memory, address, ret, capacity - 1) : 0;

	ret[size] = '\0';
	return ret[0] != '\0';
}
