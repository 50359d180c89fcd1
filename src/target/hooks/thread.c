/*
 * Learns where libc keeps things in its thread block by looking for them on threads whose number is
 * known.  Until two threads agree on an offset, the kernel is asked.
 */
#include "target/hooks/thread.h"

#include "shared/arch/elf.h"
#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "shared/base/macros.h"

#define OFFSETS_MAX 8
#define BLOCK_BYTES 2048

/* Distances from the thread pointer. */
static int32_t offsets[OFFSETS_MAX];
static unsigned offset_count;
static bool is_confirmed, asks_always;
static int64_t errno_distance;

static bool is_here(int32_t distance, int32_t number)
{
	return *(const int32_t *)(thread_pointer() + distance) == number;
}

void thread_learn(int *(*errno_location)(void), bool asks)
{
	int32_t number = (int32_t)raw0(SYS_gettid);
	int32_t first = ARCH_TLS_ABOVE ? -BLOCK_BYTES : 0;

	if (errno_location)
		errno_distance = (char *)errno_location() - thread_pointer();
	is_confirmed = false;
	asks_always = asks;
	offset_count = 0;
	for (int32_t at = first; at < first + BLOCK_BYTES && offset_count < OFFSETS_MAX; at += 4)
		if (is_here(at, number))
			offsets[offset_count++] = at;
}

void thread_confirm(void)
{
	int32_t number = (int32_t)raw0(SYS_gettid);
	unsigned kept = 0;

	for (unsigned i = 0; i < offset_count; i++)
		if (is_here(offsets[i], number))
			offsets[kept++] = offsets[i];
	offset_count = kept;
	/* Release: pairs with the acquire in thread_number(). */
	__atomic_store_n(&is_confirmed, kept == 1 && !asks_always, __ATOMIC_RELEASE);
}

int32_t thread_number(void)
{
	if (__atomic_load_n(&is_confirmed, __ATOMIC_ACQUIRE))
		return *(const int32_t *)(thread_pointer() + offsets[0]);
	return (int32_t)raw0(SYS_gettid);
}

int thread_errno(void)
{
	return errno_distance ? *(const int *)(thread_pointer() + errno_distance) : 0;
}
