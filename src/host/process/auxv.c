/*
 * Reads the auxiliary vector of a 64-bit process.  The bytes are foreign and may be cut anywhere.
 */
#include "host/process/auxv.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "host/process/procfs.h"

#define ENTRY_BYTES 16

int auxv_parse(const void *bytes, size_t size, struct auxv *ret, struct err *err)
{
	if (size > AUXV_MAX_BYTES)
		return err_set(err, -EFBIG, "auxiliary vector of %zu bytes", size);
	memset(ret, 0, sizeof(*ret));
	ret->size = size - size % ENTRY_BYTES;
	memcpy(ret->bytes, bytes, ret->size);
	return 0;
}

int auxv_read(pid_t pid, struct auxv *ret, struct err *err)
{
	char bytes[AUXV_MAX_BYTES + 2];
	ssize_t size = proc_read_small(pid, "auxv", bytes, sizeof(bytes), err);

	return size < 0 ? (int)size : auxv_parse(bytes, (size_t)size, ret, err);
}

uint64_t auxv_value(const struct auxv *auxv, uint64_t type)
{
	size_t size = MIN(auxv->size, sizeof(auxv->bytes));

	for (size_t at = 0; at + ENTRY_BYTES <= size; at += ENTRY_BYTES) {
		uint64_t entry[2];

		memcpy(entry, auxv->bytes + at, sizeof(entry));
		if (entry[0] == type)
			return entry[1];
		if (entry[0] == AT_NULL)
			break;
	}
	return 0;
}
