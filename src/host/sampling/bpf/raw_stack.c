/*
 * Walks a copied stack with the mappings that the kernel programs did not have yet.  Host only.
 */
#include "host/sampling/bpf/raw_stack.h"

#include "host/unwind/walk.h"

#include <errno.h>
#include <string.h>

/* struct pt_regs in words, and where it has them; `register_words` by their DWARF numbers. */
#if defined(__x86_64__)
#define REGISTER_WORDS 21
#define PC_WORD        16
#define SP_WORD        19
#define FP_WORD        4
#define LR_WORD        16 /* there is none */
static const unsigned char register_words[] = {
	10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0
};
#elif defined(__aarch64__)
#define REGISTER_WORDS 34
#define PC_WORD        32
#define SP_WORD        31
#define FP_WORD        29
#define LR_WORD        30
static const unsigned char register_words[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
						11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
						22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
#endif

struct copy {
	uint64_t start;
	const unsigned char *bytes;
	size_t size;
};

static int copy_read(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct copy *copy = context;
	uint64_t offset = address - copy->start;

	if (address < copy->start || offset > copy->size || size > copy->size - offset)
		return -EFAULT;
	memcpy(buffer, copy->bytes + offset, size);
	return 0;
}

static struct walk_registers registers_of(const uint64_t *words)
{
	struct walk_registers registers = {
		.pc = words[PC_WORD],
		.sp = words[SP_WORD],
		.fp = words[FP_WORD],
		.lr = words[LR_WORD],
		.mask = (1ull << ARRAY_SIZE(register_words)) - 1,
	};

	for (size_t i = 0; i < ARRAY_SIZE(register_words); i++)
		registers.all[i] = words[register_words[i]];
	return registers;
}

void raw_stack_walk(const struct sample *record, const struct space *space, struct sample *ret)
{
	const __u64 *words = record->frames + record->kernel_count;
	uint64_t raw[REGISTER_WORDS] = { 0 };
	struct walk_registers registers;
	struct walk_result result;
	struct copy copy = { 0 };
	struct memory_reader reader = { .read = copy_read, .context = &copy };

	*ret = *record;
	ret->flags &= (__u8)~KERNEL_RAW;
	ret->user_count = 0;
	ret->kernel_count = (__u16)MIN(record->kernel_count, KERNEL_FRAMES_MAX);
	memcpy(ret->frames, record->frames, ret->kernel_count * sizeof(*ret->frames));
	if (!space || record->user_count < REGISTER_WORDS)
		return;
	memcpy(raw, words, sizeof(raw));
	registers = registers_of(raw);
	copy = (struct copy){ .start = registers.sp & ~7ull,
			      .bytes = (const unsigned char *)(words + REGISTER_WORDS),
			      .size = (record->user_count - REGISTER_WORDS) * sizeof(*words) };
	result = stack_walk(space, &registers, &reader, ret->frames + ret->kernel_count,
			    SAMPLE_FRAMES_MAX);
	ret->user_count = (__u16)result.count;
	ret->end = (__u8)result.end;
	ret->flags |= result.is_guessed ? SAMPLE_GUESSED : 0;
}
