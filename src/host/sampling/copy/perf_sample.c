/*
 * Reads samples of perf events.
 */
#include "host/sampling/copy/perf_sample.h"

#include <errno.h>
#include <string.h>

#include "shared/arch/perf_registers.h"

#define LEADER 32u /* the beginning of every sample: perf_batch.c has read it */

static const struct {
	unsigned perf, dwarf;
} registers[] = { PERF_REGISTERS };

struct words {
	const uint64_t *at, *end;
};

uint64_t perf_register_mask(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		mask |= 1ull << registers[i].perf;
	return mask;
}

static bool take_word(struct words *words, uint64_t *ret)
{
	if (words->at >= words->end)
		return false;
	*ret = *words->at++;
	return true;
}

static bool take_words(struct words *words, uint64_t count, const uint64_t **ret)
{
	if (count > (uint64_t)(words->end - words->at))
		return false;
	*ret = words->at;
	words->at += count;
	return true;
}

/* Marks between the parts of a chain are the highest numbers. */
static bool is_mark(uint64_t address)
{
	return address >= (uint64_t)-4095;
}

static bool take_callchain(struct words *words, struct perf_sample *ret)
{
	const uint64_t *chain;
	uint64_t count;

	if (!take_word(words, &count) || !take_words(words, count, &chain))
		return false;
	while (count && is_mark(*chain)) {
		chain++;
		count--;
	}
	ret->kernel = chain;
	while (ret->kernel_count < count && !is_mark(chain[ret->kernel_count]))
		ret->kernel_count++;
	return true;
}

static void set_register(struct walk_registers *to, unsigned dwarf, uint64_t value)
{
	if (dwarf == PERF_REGISTER_PC) {
		to->pc = value;
		return;
	}
	to->all[dwarf] = value;
	to->mask |= 1ull << dwarf;
	if (dwarf == PERF_DWARF_FP)
		to->fp = value;
	else if (dwarf == PERF_DWARF_SP)
		to->sp = value;
#ifdef PERF_DWARF_LR
	else if (dwarf == PERF_DWARF_LR)
		to->lr = value;
#endif
}

static bool take_registers(struct words *words, struct perf_sample *ret)
{
	uint64_t abi;
	const uint64_t *values;

	if (!take_word(words, &abi))
		return false;
	ret->has_user = abi == PERF_SAMPLE_REGS_ABI_64;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	if (!take_words(words, ARRAY_SIZE(registers), &values))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		set_register(&ret->registers, registers[i].dwarf, values[i]);
	return true;
}

static bool take_stack(struct words *words, struct perf_sample *ret)
{
	const uint64_t *bytes;
	uint64_t size;

	if (!take_word(words, &size))
		return false;
	if (!size)
		return true;
	if (!take_words(words, size / sizeof(uint64_t), &bytes) ||
	    !take_word(words, &ret->stack_size))
		return false;
	ret->stack = (const unsigned char *)bytes;
	ret->stack_size = MIN(ret->stack_size, size);
	return true;
}

int perf_sample_read(struct perf_sample *ret, const struct perf_record *record, bool has_callchain)
{
	const char *bytes = (const char *)record->header;
	struct words words = {
		(const uint64_t *)(bytes + sizeof(*record->header) + LEADER),
		(const uint64_t *)(bytes + record->header->size),
	};

	*ret = (struct perf_sample){ 0 };
	if ((has_callchain && !take_callchain(&words, ret)) || !take_registers(&words, ret) ||
	    !take_stack(&words, ret))
		return -EBADMSG;
	return 0;
}
