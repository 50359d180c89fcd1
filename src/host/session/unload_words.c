/*
 * A finished call leaves its return address behind, and a later function may have it in a part of
 * its frame that it does not use.  So a return address of traced calls leads there only while their
 * frame, further up, is in flight.
 *
 * A guard page does not prove a stack: an allocator's memory may lie behind one, with the stacks of
 * coroutines in it.  glibc and musl keep a description of each thread at the upper end of its
 * stack, with the stack's address and size.
 */
#include "host/session/unload_words.h"

#include "host/process/memory.h"
#include "shared/arch/elf.h"
#include "shared/arch/thunk.h"

#define PIECE_WORDS 8192u
#define OVERLAP     512u /* words: a description is shorter */
#define LOOK_MAX    (16ull << 20)
#define FUTEX_STEP  ((uint64_t)-32) /* from a robust mutex in its list to its futex */

bool range_has(struct range range, uint64_t address)
{
	return address >= range.start && address < range.end;
}

/* struct hook_frame of target/hooks/hook.h: the hook, and a word that holds its own address. */
static bool is_frame(const struct tracer_code *self, uint64_t address, uint64_t word)
{
	uint64_t hook;

	return word == address &&
	       memory_read(self->memory, address - (FRAME_IN_FLIGHT - FRAME_HOOK), &hook,
			   sizeof(hook)) &&
	       range_has(self->all, hook);
}

/* Compares the address without the signature that a return address may carry.  The return address
 * of a traced call does not count. */
static bool leads_in(const struct tracer_code *self, uint64_t word)
{
	uint32_t mark;

	word &= ARCH_ADDRESS_MASK;
	return range_has(self->code, word) &&
	       (!memory_read(self->memory, word + RETURN_MARK_AT, &mark, sizeof(mark)) ||
		mark != RETURN_MARK);
}

bool tracer_frame_find(const struct tracer_code *self, uint64_t at, const uint64_t *words,
		       size_t count, uint64_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		*ret = at + i * sizeof(words[0]);
		if (is_frame(self, *ret, words[i]))
			return true;
	}
	*ret = 0;
	return false;
}

bool tracer_words_find(const struct tracer_code *self, uint64_t at, const uint64_t *words,
		       size_t count, uint64_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		*ret = at + i * sizeof(words[0]);
		if (is_frame(self, *ret, words[i]) || leads_in(self, words[i]))
			return true;
	}
	*ret = 0;
	return false;
}

/* A piece of the target's memory, and its address. */
struct piece {
	uint64_t words[PIECE_WORDS];
	uint64_t address;
	size_t count;
};

static bool piece_read(struct piece *self, int memory, uint64_t start, uint64_t end)
{
	self->address = start;
	self->count = MIN(end - start, sizeof(self->words)) / sizeof(self->words[0]);
	return memory_read(memory, start, self->words, self->count * sizeof(self->words[0]));
}

enum life { LIFE_UNKNOWN, LIFE_GOES_ON, LIFE_ENDED };

/* glibc: "TID, ADDRESS, ADDRESS, STEP" is the thread's empty list of robust mutexes, which leads to
 * itself; the kernel clears the number when the thread has ended, and
 * pthread_join makes it negative. */
static enum life find_life(const struct piece *piece, size_t index)
{
	for (size_t i = index; i-- > 2 && index - i < OVERLAP;) {
		uint64_t address = piece->address + i * sizeof(piece->words[0]);

		if (piece->words[i] == address && piece->words[i - 1] == address &&
		    piece->words[i + 1] == FUTEX_STEP)
			return (int32_t)piece->words[i - 2] > 0 ? LIFE_GOES_ON : LIFE_ENDED;
	}
	return LIFE_UNKNOWN;
}

/* Address and size of stack and guard together; glibc: then the guard's size, below the list, musl:
 * then where the stack ends, and its size.  Functions of libc leave some of these numbers in their
 * frames. */
static bool is_description(const uint64_t *words, enum life life, const struct mapping *guard,
			   const struct mapping *mapping)
{
	uint64_t end = words[0] + words[1];

	if (words[0] < guard->start || words[0] >= guard->end || end <= mapping->start ||
	    end > mapping->end)
		return false;
	return (life != LIFE_UNKNOWN && words[0] + words[2] == mapping->start) ||
	       (words[2] <= end && words[2] - words[3] == mapping->start);
}

static bool find_description(const struct piece *piece, const struct mapping *mapping,
			     struct thread_stack *ret)
{
	for (size_t i = 0; i + 3 < piece->count; i++) {
		enum life life = find_life(piece, i);

		if (!is_description(&piece->words[i], life, mapping - 1, mapping))
			continue;
		*ret = (struct thread_stack){ mapping->start, piece->words[i] + piece->words[i + 1],
					      life == LIFE_ENDED };
		return true;
	}
	return false;
}

bool thread_stack_find(int memory, const struct maps *maps, size_t index, uint64_t used,
		       struct thread_stack *ret)
{
	const struct mapping *mapping = &maps->items[index], *guard;
	struct piece piece;
	uint64_t at;

	if (!index || mapping->path[0])
		return false;
	guard = mapping - 1;
	if (guard->end != mapping->start || guard->readable || guard->writable || guard->executable)
		return false;
	at = mapping->end - MIN(mapping->end - mapping->start, sizeof(piece.words));
	if (piece_read(&piece, memory, at, mapping->end) && find_description(&piece, mapping, ret))
		return true;
	/* Other memory follows in the same mapping: the description is above the thread's stack
	 * pointer. */
	at = used & ~7ull;
	while (at && at < mapping->end && at - used < LOOK_MAX) {
		if (!piece_read(&piece, memory, at, mapping->end))
			return false;
		if (find_description(&piece, mapping, ret))
			return true;
		at += sizeof(piece.words) - OVERLAP * sizeof(piece.words[0]);
	}
	return false;
}
