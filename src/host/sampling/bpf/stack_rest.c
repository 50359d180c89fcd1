/*
 * Continues walks that kernel programs could not finish: they may not wait for memory that is
 * swapped out, or being migrated.  Reading brings it back, so that the next sample finds it.
 */
#include "host/sampling/bpf/stack_rest.h"

#include "host/sampling/live_memory.h"
#include "host/unwind/walk.h"

#include <string.h>

#define REST_WORDS (sizeof(struct kernel_rest) / sizeof(__u64))

static void go_on(const struct kernel_rest *rest, const struct space *space, struct sample *ret)
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

	*ret = *record;
	ret->flags &= (__u8)~KERNEL_REST;
	ret->kernel_count = (__u16)MIN(record->kernel_count, KERNEL_FRAMES_MAX);
	ret->user_count = 0;
	if (record->user_count <= REST_WORDS)
		return;
	count = record->user_count - REST_WORDS;
	memcpy(&rest, record->frames + record->kernel_count + count, sizeof(rest));
	ret->user_count = (__u16)MIN(count, SAMPLE_FRAMES_MAX);
	memcpy(ret->frames, record->frames, ret->kernel_count * sizeof(*ret->frames));
	memcpy(ret->frames + ret->kernel_count, record->frames + record->kernel_count,
	       ret->user_count * sizeof(*ret->frames));
	if (space)
		go_on(&rest, space, ret);
}
