/*
 * Reads PERF_RECORD_MMAP2.
 */
#include "host/sampling/copy/perf_mapping.h"

#include <errno.h>
#include <string.h>

#include "host/core/text/text.h"

#define TRAILER   32u      /* perf_batch.c has read it */
#define ANONYMOUS "//anon" /* perf's name for mappings that maps shows without one */

/* In the kernel's layout behind the header. */
struct mmap2 {
	uint32_t pid, tid;
	uint64_t address, size, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char name[];
};

int perf_mapping_read(struct mapping *ret, const struct perf_record *record)
{
	const struct mmap2 *from = (const struct mmap2 *)(record->header + 1);
	const char *end = (const char *)record->header + record->header->size - TRAILER;
	size_t room;

	if (end <= from->name || from->size > UINT64_MAX - from->address || !from->size)
		return -EBADMSG;
	room = (size_t)(end - from->name);
	*ret = (struct mapping){
		.start = from->address,
		.end = from->address + from->size,
		.offset = from->offset,
		.inode = from->inode,
		.dev_major = from->dev_major,
		.dev_minor = from->dev_minor,
		.readable = true,
		.executable = true,
	};
	if (strncmp(from->name, ANONYMOUS, MIN(room, sizeof(ANONYMOUS))))
		text_copy((struct text){ from->name, from->name + strnlen(from->name, room) },
			  ret->path, sizeof(ret->path));
	return 0;
}
