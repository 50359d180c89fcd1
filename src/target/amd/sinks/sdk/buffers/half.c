/*
 * Runs on limpet's threads, except half_reserve().
 */
#include "target/amd/sinks/sdk/buffers/half.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "target/runtime/kernel_clock.h"

#include <sys/mman.h>
#include <time.h>

#define PATIENCE_NS 2000000000ull
#define PAUSE_NS    100000
#define SPINS_MAX   1000u

static unsigned char *memory_map(uint64_t bytes)
{
	long r = raw6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (unsigned char *)r;
}

bool half_open(struct half *half, uint64_t life, uint64_t room)
{
	half->memory = memory_map(room);
	/* Release: pairs with the acquire in half_reserve(); publishes the memory. */
	__atomic_store_n(&half->cursor, life << LIFE_SHIFT, __ATOMIC_RELEASE);
	return half->memory;
}

void half_close(struct half *half, uint64_t room)
{
	if (half->memory)
		raw2(SYS_munmap, half->memory, room);
	half->memory = NULL;
}

uint64_t half_seal(struct half *half)
{
	return __atomic_fetch_or(&half->cursor, SEALED, __ATOMIC_ACQ_REL) & USED_MASK;
}

/* The record's first word, once the record is complete or the time is over. */
static uint64_t await_whole(const uint64_t *record, uint64_t end_ns)
{
	struct timespec pause = { 0, PAUSE_NS };

	for (unsigned spins = 0;; spins++) {
		/* Acquire: pairs with the release in buffer_commit(). */
		uint64_t word = __atomic_load_n(record, __ATOMIC_ACQUIRE);

		if (word && !(word & UNFINISHED))
			return word;
		if (spins < SPINS_MAX)
			spin_pause();
		else if (monotonic_ns() < end_ns)
			raw2(SYS_nanosleep, &pause, 0);
		else
			return word;
	}
}

/* Without a stored mark later records cannot be found: counts as many as the rest may hold. */
uint64_t half_walk(const struct half *half, uint64_t used, half_function *each, void *data)
{
	uint64_t end_ns = monotonic_ns() + PATIENCE_NS, lost = 0, word;

	for (uint64_t at = 0; at < used; at += ALIGN_UP(word & ~UNFINISHED, 8)) {
		word = await_whole((const uint64_t *)(half->memory + at), end_ns);
		if (!word)
			return lost + (used - at) / RECORD_LEAST;
		if (word & UNFINISHED)
			lost++;
		else
			each(half->memory + at, data);
	}
	return lost;
}

/* libc's memset is not available here. */
static void clear_words(uint64_t *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / sizeof(*at); i++)
		at[i] = 0;
}

void half_clean(struct half *half, uint64_t used, uint64_t room, bool is_abandoned)
{
	uint64_t cursor = __atomic_load_n(&half->cursor, __ATOMIC_RELAXED) & ~SEALED;
	uint64_t round = ((cursor >> ROUND_SHIFT) + 1) & ROUND_MASK;
	unsigned char *memory = is_abandoned ? memory_map(room) : half->memory;

	if (!memory)
		return;
	if (!is_abandoned)
		clear_words((uint64_t *)memory, used);
	__atomic_store_n(&half->memory, memory, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in half_reserve(); publishes cleared memory. */
	__atomic_store_n(&half->cursor, (cursor >> LIFE_SHIFT << LIFE_SHIFT) | round << ROUND_SHIFT,
			 __ATOMIC_RELEASE);
}
