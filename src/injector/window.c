/*
 * A window at the far end of a stack, for the emergency frame of a thread that runs elsewhere. The
 * whole window is written, with a checksum at its end, so that the next attach can verify that no
 * code has used it since.
 */
#include "injector/injector.h"
#include "shared/base/hash.h"

#include <string.h>

#define WINDOW_SIZE (ARCH_FRAME_MAX + 4096)
#define FILLER      0x6c

static unsigned char window[WINDOW_SIZE];

bool window_is_ours(const struct stopped *self, uint64_t top)
{
	uint64_t sum;

	if (memory_read(self, top - WINDOW_SIZE, window, WINDOW_SIZE))
		return false;
	memcpy(&sum, window + WINDOW_SIZE - sizeof(sum), sizeof(sum));
	return sum == hash_bytes(window, WINDOW_SIZE - sizeof(sum));
}

int window_write(const struct stopped *self, const unsigned char *frame, size_t size)
{
	uint64_t bottom = self->window_top - WINDOW_SIZE, sum;

	memset(window, FILLER, WINDOW_SIZE);
	memcpy(window + (self->escape.frame - bottom), frame, size);
	sum = hash_bytes(window, WINDOW_SIZE - sizeof(sum));
	memcpy(window + WINDOW_SIZE - sizeof(sum), &sum, sizeof(sum));
	return memory_write(self, bottom, window, WINDOW_SIZE);
}
