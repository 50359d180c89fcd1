/*
 * Finds the fields of libc's thread block by searching the blocks of threads whose ID and stack are
 * known. Until two threads agree on one offset, thread_number() asks the kernel, and no stack is
 * known.
 */
#include "target/hooks/thread.h"

#include "shared/arch/elf.h"
#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "shared/base/macros.h"

#define OFFSETS_MAX 8
#define BLOCK_BYTES 2048
#define FIRST_BYTE  (ARCH_TLS_ABOVE ? -BLOCK_BYTES : 0)
/* Maximum of what follows the thread block in the same mapping: static TLS on some machines. */
#define BEHIND_BLOCK (1u << 20)
/* A pointer is larger than any stack's size. */
#define STACK_BYTES_MAX (1ull << 36)

/* Matching distances from the thread pointer. */
struct offsets {
	int32_t items[OFFSETS_MAX];
	unsigned count;
	bool is_confirmed;
};
typedef bool offset_test(int32_t distance, uint64_t wanted);

static struct offsets numbers, stacks;
static bool asks_always;
static int64_t errno_distance;

static bool is_number(int32_t distance, uint64_t number)
{
	return *(const uint32_t *)(thread_pointer() + distance) == number;
}

/* Two words, begin and size, of a stack that contains the address and, above it, the thread block.
 * glibc and musl keep such a pair. */
static bool is_stack(int32_t distance, uint64_t address)
{
	const uint64_t *words = (const uint64_t *)(thread_pointer() + distance);
	uint64_t block = (uint64_t)thread_pointer(), behind = words[0] + words[1] - block;

	return words[0] < address && address < block && behind < BEHIND_BLOCK &&
	       words[1] > behind && words[1] < STACK_BYTES_MAX;
}

static void offsets_learn(struct offsets *self, offset_test *test, uint64_t wanted, int32_t step)
{
	__atomic_store_n(&self->is_confirmed, false, __ATOMIC_RELAXED);
	self->count = 0;
	for (int32_t at = FIRST_BYTE;
	     at + step <= FIRST_BYTE + BLOCK_BYTES && self->count < OFFSETS_MAX; at += step)
		if (test(at, wanted))
			self->items[self->count++] = at;
}

static void offsets_confirm(struct offsets *self, offset_test *test, uint64_t wanted)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < self->count; i++)
		if (test(self->items[i], wanted))
			self->items[kept++] = self->items[i];
	self->count = kept;
	/* Release: pairs with the acquire in offset_find(). */
	__atomic_store_n(&self->is_confirmed, kept == 1, __ATOMIC_RELEASE);
}

static const int32_t *offset_find(const struct offsets *self)
{
	return __atomic_load_n(&self->is_confirmed, __ATOMIC_ACQUIRE) ? self->items : NULL;
}

void thread_learn(int *(*errno_location)(void), bool asks)
{
	if (errno_location)
		errno_distance = (char *)errno_location() - thread_pointer();
	asks_always = asks;
	offsets_learn(&numbers, is_number, (uint64_t)raw0(SYS_gettid), sizeof(int32_t));
	offsets_learn(&stacks, is_stack, (uint64_t)__builtin_frame_address(0), sizeof(uint64_t));
}

void thread_confirm(void)
{
	offsets_confirm(&numbers, is_number, (uint64_t)raw0(SYS_gettid));
	offsets_confirm(&stacks, is_stack, (uint64_t)__builtin_frame_address(0));
}

int32_t thread_number(void)
{
	const int32_t *offset = asks_always ? NULL : offset_find(&numbers);

	if (offset)
		return *(const int32_t *)(thread_pointer() + *offset);
	return (int32_t)raw0(SYS_gettid);
}

uint64_t thread_stack_end(uint64_t address)
{
	const int32_t *offset = offset_find(&stacks);

	return offset && is_stack(*offset, address) ? (uint64_t)thread_pointer() : 0;
}

int thread_errno(void)
{
	return errno_distance ? *(const int *)(thread_pointer() + errno_distance) : 0;
}
