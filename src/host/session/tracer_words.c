/*
 * A finished call leaves its return address behind, and a later function may have it in a part of
 * its frame that it does not use.  So a return address of traced calls leads there only while their
 * frame, further up, is in flight.
 */
#include "host/session/tracer_words.h"

#include "host/process/memory.h"
#include "shared/arch/elf.h"
#include "shared/arch/thunk.h"

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

static bool is_return_of_call(const struct tracer_code *self, uint64_t address)
{
	uint32_t mark;

	return memory_read(self->memory, address + RETURN_MARK_AT, &mark, sizeof(mark)) &&
	       mark == RETURN_MARK;
}

/* Compares the address without the signature that a return address may carry. */
static bool leads_in(const struct tracer_code *self, uint64_t word)
{
	word &= ARCH_ADDRESS_MASK;
	return range_has(self->code, word) && !is_return_of_call(self, word);
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
