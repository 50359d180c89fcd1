/*
 * Reads another process's memory through /proc/PID/mem.  Host only.  Everything read is foreign and
 * may change while it is read: counts are bounded, addresses are only ever passed back to the
 * kernel.
 */
#include "host/process/memory.h"

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
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool memory_read(int memory, uint64_t address, void *ret, size_t size)
{
	if (memory < 0 || address > INT64_MAX)
		return false;
	return pread(memory, ret, size, (off_t)address) == (ssize_t)size;
}

/* Where the object's dynamic section is, and what its own addresses must be moved by. */
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

bool memory_soname(int memory, uint64_t base, char *ret, size_t capacity)
{
	uint64_t address, bias, strings = 0, offset = 0;
	Elf64_Dyn entry;

	if (!find_dynamic(memory, base, &address, &bias))
		return false;
	for (size_t i = 0; i < MAX_DYNAMIC; i++) {
		if (!memory_read(memory, address + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB)
			strings = entry.d_un.d_ptr;
		if (entry.d_tag == DT_SONAME)
			offset = entry.d_un.d_val;
	}
	if (!strings || !offset)
		return false;
	/* glibc writes the real address into the section, musl leaves the file's. */
	if (strings < base)
		strings += bias;
	memset(ret, 0, capacity);
	/* Byte by byte: the name may stand at the very end of what is mapped. */
	for (size_t i = 0; i + 1 < capacity; i++)
		if (!memory_read(memory, strings + offset + i, &ret[i], 1) || !ret[i])
			break;
	return ret[0] != '\0';
}
