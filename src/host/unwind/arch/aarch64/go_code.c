/*
 * Instructions of Go's functions on aarch64.
 *
 * Small frames begin with  str x30, [sp, #-size]!; stur x29, [sp, #-8]; sub x29, sp, #8
 * and large ones with      sub x20, sp, #size; stp x29, x30, [x20, #-8]; mov sp, x20; sub x29, sp,
 * #8
 */
#include "host/unwind/arch/go_code.h"

#include <string.h>

#define INSTRUCTION_BYTES 4u
#define TRAMPOLINE        0xd4000001d2801168u /* mov x8, #139; svc #0 */
#define STORE_LR          0xf8000ffeu         /* str x30, [sp, #...]! */
#define STORE_LR_MASK     0xffe00fffu
#define STORE_FP          0xf81f83fdu /* stur x29, [sp, #-8] */
#define STORE_BOTH        0xa93ffa9du /* stp x29, x30, [x20, #-8] */
#define SET_SP            0x9100001fu /* mov sp, x0 */
#define REGISTER_MASK     0xfffffc1fu
#define SET_SP_TO_X20     0x9100029fu
#define CALL              0xd63f0000u /* blr x0 */
#define LOAD              0xf9400000u /* ldr x0, [x0, #0] */
#define LOAD_MASK         0xffc00000u
#define REGISTER_G        28u
#define REGISTER_SP       31u
#define GOROUTINE_SEEN    24u /* instructions until systemstack has read it */

static uint32_t word_at(const struct go_part *code, uint64_t at)
{
	uint32_t word = 0;

	if (at <= code->size && INSTRUCTION_BYTES <= code->size - at)
		memcpy(&word, code->bytes + at, sizeof(word));
	return word;
}

static bool read_prologue(const struct go_part *code, uint64_t frame, struct go_prologue *ret)
{
	if (frame >= INSTRUCTION_BYTES &&
	    (word_at(code, frame - INSTRUCTION_BYTES) & STORE_LR_MASK) == STORE_LR) {
		ret->fp_saved = word_at(code, frame) == STORE_FP ? frame + INSTRUCTION_BYTES : 0;
		return true;
	}
	/* asyncPreempt: str x30, [sp, #-size]; sub sp, sp, #size; the rest is the same. */
	ret->fp_saved = word_at(code, frame) == STORE_FP ? frame + INSTRUCTION_BYTES : frame;
	return frame >= 2 * INSTRUCTION_BYTES &&
	       word_at(code, frame - INSTRUCTION_BYTES) == SET_SP_TO_X20 &&
	       word_at(code, frame - 2 * INSTRUCTION_BYTES) == STORE_BOTH;
}

static uint64_t find_switch(const struct go_part *code, uint64_t from)
{
	for (uint64_t at = from; at + INSTRUCTION_BYTES <= code->size; at += INSTRUCTION_BYTES)
		if ((word_at(code, at) & REGISTER_MASK) == SET_SP)
			return at + INSTRUCTION_BYTES;
	return 0;
}

static bool find_call(const struct go_part *code, struct go_call *call)
{
	for (uint64_t at = call->end; at + INSTRUCTION_BYTES <= code->size;
	     at += INSTRUCTION_BYTES) {
		if ((word_at(code, at) & REGISTER_MASK) != CALL)
			continue;
		*call = (struct go_call){ .start = at, .end = at + INSTRUCTION_BYTES, .kept = 0 };
		return true;
	}
	return false;
}

/* systemstack compares the thread's signal goroutine, its own, and last the running one. */
static unsigned find_goroutine(const struct go_part *code)
{
	unsigned largest = 0;

	for (uint64_t at = 0; at < GOROUTINE_SEEN * INSTRUCTION_BYTES; at += INSTRUCTION_BYTES) {
		uint32_t word = word_at(code, at), base = word >> 5 & 31;

		if ((word & LOAD_MASK) == LOAD && base != REGISTER_SP && base != REGISTER_G)
			largest = MAX(largest, (word >> 10 & 0xfff) * 8);
	}
	return largest;
}

const struct go_machine go_of_aarch64 = { TRAMPOLINE, read_prologue, find_switch, find_call,
					  find_goroutine };
