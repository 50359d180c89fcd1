/*
 * Memory of a process as it is now, read for a sample that was taken earlier: it may have changed
 * since, so what was found by it is a guess.
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

/* For a memory_reader; the context is a struct live_memory. */
int live_memory_read(void *context, uint64_t address, void *into, size_t size);
