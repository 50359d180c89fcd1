/*
 * Finds out whether the stopped thread is inside a libc function or its callees. The stack is
 * searched, not unwound: any word that could be a return address into the function counts.
 */
#include "injector/injector.h"

#include "shared/arch/elf.h"

#define STACK_WORDS 4096

static bool is_in(uint64_t address, struct job_code code)
{
	address &= ARCH_ADDRESS_MASK;
	return address >= code.start && address < code.end;
}

/* Returns how many words could be read; fewer at the end of the stack. */
static size_t read_words(const struct stopped *self, uint64_t address, uint64_t *words)
{
	size_t count = STACK_WORDS;

	while (count && memory_read(self, address, words, count * sizeof(words[0])))
		count /= 2;
	return count;
}

bool thread_may_be_inside(const struct stopped *self, struct job_code code, uint64_t bytes)
{
	static uint64_t words[STACK_WORDS];
	const struct user_regs_struct *regs = &self->state.regs;
	uint64_t at = arch_stack_pointer(regs), end = at + bytes;
	size_t count;

	if (is_in(arch_instruction_pointer(regs), code) || is_in(arch_link_register(regs), code))
		return true;
	for (; at < end && (count = read_words(self, at, words)); at += count * sizeof(words[0]))
		for (size_t i = 0; i < count; i++)
			if (is_in(words[i], code))
				return true;
	return false;
}
