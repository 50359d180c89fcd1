/*
 * Code without frame pointers leaves any value in the register: each page is probed first.
 */
#include "target/hooks/stack.h"

#include "shared/arch/elf.h"
#include "target/hooks/probe.h"
#include "target/runtime/readable.h"

#define FRAME_MAX  0x100000u
#define NEAR_BYTES 0x10000u
#define PAGE_MASK  4095u

/* Called by thunk.S. */
unsigned stack_readable(const uint64_t *words, unsigned count)
{
	uint64_t next = ALIGN_UP((uint64_t)words, PAGE_MASK + 1ull);

	return is_readable(next) ? count : (unsigned)((next - (uint64_t)words) / sizeof(*words));
}

bool stack_has_word(const volatile uint64_t *word)
{
	return !((uint64_t)word % sizeof(*word)) && is_readable((uint64_t)word);
}

bool stack_is_there(const void *address, size_t size, const void *near)
{
	uint64_t start = (uint64_t)address, last = start + size - 1;

	if (last - (uint64_t)near < NEAR_BYTES)
		return true;
	/* Eight bytes are tried. */
	return probe_can_read(start) && probe_can_read(last & ~(uint64_t)7);
}

/* The next frame must lie further up, and not far. */
static bool is_frame(uint64_t address, uint64_t below, uint64_t *page)
{
	if (address % sizeof(uint64_t) || address <= below || address - below > FRAME_MAX)
		return false;
	if ((address & ~(uint64_t)PAGE_MASK) != *page && !is_readable(address))
		return false;
	*page = (address + sizeof(uint64_t)) & ~(uint64_t)PAGE_MASK;
	return *page == (address & ~(uint64_t)PAGE_MASK) || is_readable(*page);
}

unsigned stack_collect(const uint64_t *link, uint64_t *ret, unsigned room)
{
	uint64_t at = (uint64_t)link, page = at & ~(uint64_t)PAGE_MASK;
	unsigned count = 0;

	while (count < room) {
		const uint64_t *frame = (const uint64_t *)at;

		ret[count++] = frame[1] & ARCH_ADDRESS_MASK;
		if (!is_frame(frame[0], at, &page))
			break;
		at = frame[0];
	}
	return count;
}
