/*
 * The present memory of a process, read for an earlier sample: it may have changed since, so what
 * was found through it is a guess.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LATER_MEMORY_PIECE 4096u

struct live_memory {
	pid_t pid;
	bool was_read;
	uint64_t piece_at, piece_size;
	unsigned char piece[LATER_MEMORY_PIECE];
};

#define TOUCHED_MAX 32u /* pages */

/* Makes pages present that the process has never written, so that the kernel can copy what lies
 * behind them: empty, as the process would find them. */
void live_memory_touch(pid_t pid, uint64_t start, uint64_t end);
/* For a memory_reader; the context is a struct live_memory. */
int live_memory_read(void *context, uint64_t address, void *into, size_t size);
