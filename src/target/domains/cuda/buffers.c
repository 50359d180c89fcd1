/*
 * Memory for CUPTI's records. CUPTI requests an empty buffer on the thread that filled the last
 * one, and completes it on a thread of its own. Buffers are handed out zeroed and are cleared on
 * completion, so that no launch has to clear one. No locks, no libc.
 */
#include "target/domains/cuda/cuda.h"

#include "target/runtime/mapping.h"

#include <errno.h>

#define BUFFER_BYTES (1u << 20)
#define BUFFERS      128u

enum buffer_state {
	BUFFER_FREE,
	BUFFER_OUT,     /* CUPTI has it */
	BUFFER_RETIRED, /* completed, but CUPTI may still write to it */
};

static uint8_t *memory;          /* never unmapped: CUPTI may keep a buffer for ever */
static uint32_t states[BUFFERS]; /* enum buffer_state */
static uint32_t retires;

int buffers_open(void)
{
	if (!memory)
		memory = memory_map((size_t)BUFFERS * BUFFER_BYTES, MAP_NORESERVE);
	return memory ? 0 : -ENOMEM;
}

/* Acquire: pairs with the releases below; the buffer is empty. */
static bool buffer_claim(unsigned i)
{
	uint32_t expected = BUFFER_FREE;

	return __atomic_compare_exchange_n(&states[i], &expected, BUFFER_OUT, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Without a free buffer, CUPTI drops records and counts these. */
void buffer_provide(uint8_t **buffer, size_t *size, size_t *record_max)
{
	*buffer = NULL;
	*size = 0;
	*record_max = 0;
	for (unsigned i = 0; i < BUFFERS; i++)
		if (buffer_claim(i)) {
			*buffer = memory + (size_t)i * BUFFER_BYTES;
			*size = BUFFER_BYTES;
			return;
		}
}

void buffer_recycle(uint8_t *buffer, size_t valid)
{
	size_t at = (size_t)(buffer - memory);
	uint64_t *words = (uint64_t *)buffer;

	if (!memory || at >= (size_t)BUFFERS * BUFFER_BYTES)
		return;
	if (__atomic_load_n(&retires, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&states[at / BUFFER_BYTES], BUFFER_RETIRED, __ATOMIC_RELEASE);
		return;
	}
	for (size_t i = 0; i < (MIN(valid, (size_t)BUFFER_BYTES) + 7) / 8; i++)
		words[i] = 0;
	/* Release: pairs with buffer_claim(). */
	__atomic_store_n(&states[at / BUFFER_BYTES], BUFFER_FREE, __ATOMIC_RELEASE);
}

void buffers_retire(bool is_on)
{
	__atomic_store_n(&retires, is_on, __ATOMIC_RELEASE);
}

uint32_t buffers_in_use(void)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < BUFFERS; i++)
		count += __atomic_load_n(&states[i], __ATOMIC_ACQUIRE) == BUFFER_OUT;
	return count;
}

/* Frees the pages of free buffers; the kernel zeroes these on the next access. CUPTI may request a
 * buffer meanwhile, so each buffer is claimed before its pages are freed. */
void buffers_close(void)
{
	for (unsigned i = 0; memory && i < BUFFERS; i++) {
		if (!buffer_claim(i))
			continue;
		raw3(SYS_madvise, memory + (size_t)i * BUFFER_BYTES, BUFFER_BYTES, MADV_DONTNEED);
		/* Release: pairs with buffer_claim(). */
		__atomic_store_n(&states[i], BUFFER_FREE, __ATOMIC_RELEASE);
	}
}
