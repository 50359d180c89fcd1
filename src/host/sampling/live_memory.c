/*
 * Reads memory of a process, a piece at a time; waits for what is swapped out, and thereby brings
 * it back.
 */
#include "host/sampling/live_memory.h"

#include "host/process/memory.h"
#include "shared/base/macros.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

static void live_memory_fetch(struct live_memory *memory, uint64_t piece)
{
	struct iovec local = { memory->piece, LATER_MEMORY_PIECE };
	struct iovec remote = { (void *)(uintptr_t)piece, LATER_MEMORY_PIECE };
	ssize_t n = memory_copy(memory->pid, &local, 1, &remote, 1);

	memory->piece_at = piece;
	memory->piece_size = n > 0 ? (uint64_t)n : 0;
}

void live_memory_touch(pid_t pid, uint64_t start, uint64_t end)
{
	char bytes[TOUCHED_MAX];
	struct iovec local = { bytes, 0 }, remote[TOUCHED_MAX];
	unsigned long count = 0;

	for (uint64_t at = start; at < end && count < TOUCHED_MAX; count++) {
		remote[count] = (struct iovec){ (void *)(uintptr_t)at, 1 };
		at = ALIGN_DOWN(at, LATER_MEMORY_PIECE) + LATER_MEMORY_PIECE;
	}
	local.iov_len = count;
	if (count)
		(void)!memory_copy(pid, &local, 1, remote, count);
}

int live_memory_read(void *context, uint64_t address, void *into, size_t size)
{
	struct live_memory *memory = context;
	uint64_t piece = ALIGN_DOWN(address, LATER_MEMORY_PIECE);

	if (piece != memory->piece_at)
		live_memory_fetch(memory, piece);
	if (address - piece + size > memory->piece_size)
		return -EFAULT;
	memcpy(into, memory->piece + (address - piece), size);
	memory->was_read = true;
	return 0;
}
