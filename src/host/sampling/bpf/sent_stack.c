/*
 * Walks stacks that kernel programs could not walk to their end: copies, with the mappings that the
 * programs did not have yet; and walks that met memory which is swapped out, or being migrated.
 * Reading brings it back, so that the next sample finds it.
 */
#include "host/sampling/bpf/sent_stack.h"

#include "host/sampling/copy/copied_stack.h"
#include "host/unwind/walk.h"

#include <string.h>

#define REST_WORDS (sizeof(struct kernel_rest) / sizeof(__u64))

/* struct pt_regs in words, and the indexes in it; `register_words` by their DWARF numbers. */
#if defined(__x86_64__)
#define REGISTER_WORDS 21
#define PC_WORD        16
#define SP_WORD        19
#define FP_WORD        4
#define LR_WORD        16 /* not on this machine */
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

static struct walk_result walk_once(struct copied_stack *stack, const struct space *space,
				    struct sample *ret)
{
	const struct memory_reader reader = { copied_stack_read, stack };

	copied_stack_begin(stack);
	return stack_walk(space, &stack->sample->registers, &reader,
			  ret->frames + ret->kernel_count, SAMPLE_FRAMES_MAX);
}

/* Only a few pages were sent.  What lies above them is read now, and used only if it leads to the
 * outermost frame and the thread is still in the calls below it. */
static void walk_raw(struct copied_stack *stack, const struct space *space, struct sample *ret)
{
	struct walk_result result = walk_once(stack, space, ret);
	bool is_guessed = stack->beyond.was_read;

	if (is_guessed &&
	    (result.end != STACK_COMPLETE || !stack->last_count || !copied_stack_stands(stack))) {
		stack->is_shut = true;
		result = walk_once(stack, space, ret);
		is_guessed = false;
	}
	ret->user_count = (__u16)result.count;
	ret->end = (__u8)result.end;
	ret->flags |= is_guessed || result.is_guessed ? SAMPLE_GUESSED : 0;
}

/* The same record without user frames. */
static void keep_kernel_side(const struct sample *record, struct sample *ret)
{
	*ret = *record;
	ret->flags &= (__u8) ~(KERNEL_RAW | KERNEL_REST);
	ret->user_count = 0;
	ret->kernel_count = (__u16)MIN(record->kernel_count, KERNEL_FRAMES_MAX);
	memcpy(ret->frames, record->frames, ret->kernel_count * sizeof(*ret->frames));
}

void raw_stack_walk(const struct sample *record, const struct space *space, struct sample *ret)
{
	const __u64 *words = record->frames + record->kernel_count;
	uint64_t raw[REGISTER_WORDS] = { 0 };
	struct perf_sample from = { 0 };
	struct copied_stack stack = { .sample = &from, .beyond.pid = (pid_t)record->pid };

	keep_kernel_side(record, ret);
	if (!space || record->user_count < REGISTER_WORDS)
		return;
	memcpy(raw, words, sizeof(raw));
	from.registers = (struct walk_registers){
		.pc = raw[PC_WORD],
		.sp = raw[SP_WORD],
		.fp = raw[FP_WORD],
		.lr = raw[LR_WORD],
		.mask = (1ull << ARRAY_SIZE(register_words)) - 1,
	};
	for (size_t i = 0; i < ARRAY_SIZE(register_words); i++)
		from.registers.all[i] = raw[register_words[i]];
	from.stack = (const unsigned char *)(words + REGISTER_WORDS) + from.registers.sp % 8;
	from.stack_size = (record->user_count - REGISTER_WORDS) * sizeof(*words);
	from.stack_size -= MIN(from.stack_size, from.registers.sp % 8);
	walk_raw(&stack, space, ret);
}

/* Frames found now are a guess, and kept only if they lead to the outermost one. */
static void walk_rest(const struct kernel_rest *rest, const struct space *space, struct sample *ret)
{
	const struct walk_registers registers = {
		.pc = rest->pc,
		.sp = rest->sp,
		.fp = rest->fp,
		.lr = rest->lr,
		.is_sp_lost = rest->is_sp_lost,
	};
	struct live_memory memory = { .pid = (pid_t)ret->pid };
	const struct memory_reader reader = { live_memory_read, &memory };
	struct walk_result result =
		stack_walk_on(space, &registers, rest->is_exact, &reader,
			      ret->frames + ret->kernel_count, ret->user_count, SAMPLE_FRAMES_MAX);

	if (result.end != STACK_COMPLETE && result.end != STACK_CUT)
		return;
	ret->user_count = (__u16)result.count;
	ret->end = (__u8)result.end;
	ret->flags |= SAMPLE_GUESSED;
}

void stack_rest_walk(const struct sample *record, const struct space *space, struct sample *ret)
{
	struct kernel_rest rest;
	size_t count;

	keep_kernel_side(record, ret);
	if (record->user_count <= REST_WORDS)
		return;
	count = record->user_count - REST_WORDS;
	memcpy(&rest, record->frames + record->kernel_count + count, sizeof(rest));
	ret->user_count = (__u16)MIN(count, SAMPLE_FRAMES_MAX);
	memcpy(ret->frames + ret->kernel_count, record->frames + record->kernel_count,
	       ret->user_count * sizeof(*ret->frames));
	if (space)
		walk_rest(&rest, space, ret);
}
