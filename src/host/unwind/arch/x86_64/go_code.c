/*
 * Instructions of Go's functions on x86-64.
 *
 * Frames begin with     push %rbp; mov %rsp, %rbp; sub $size, %rsp
 * before Go 1.21 with   sub $size, %rsp; mov %rbp, size-8(%rsp); lea size-8(%rsp), %rbp
 */
#include "host/unwind/arch/go_code.h"

#include <string.h>

#define TRAMPOLINE     0x0f0000000fc0c748u /* mov $15, %rax; syscall */
#define PUSH_FP        0x55u
#define GOROUTINE_SEEN 96u
#define GOROUTINE_MAX  1024u

/* mov %rbp, ...(%rsp): with an offset of one byte, of four, and with none. */
static const struct {
	unsigned char bytes[4];
	unsigned size;
} stores_of_fp[] = {
	{ { 0x48, 0x89, 0x6c, 0x24 }, 5 },
	{ { 0x48, 0x89, 0xac, 0x24 }, 8 },
	{ { 0x48, 0x89, 0x2c, 0x24 }, 4 },
};

static bool code_has(const struct go_part *code, uint64_t at, const void *bytes, size_t size)
{
	return at <= code->size && size <= code->size - at &&
	       !memcmp(code->bytes + at, bytes, size);
}

static unsigned byte_at(const struct go_part *code, uint64_t at)
{
	return at < code->size ? code->bytes[at] : 0;
}

static bool read_prologue(const struct go_part *code, uint64_t frame, struct go_prologue *ret)
{
	ret->fp_saved = 0;
	if (frame && byte_at(code, frame - 1) == PUSH_FP)
		ret->fp_saved = frame;
	for (size_t i = 0; !ret->fp_saved && i < ARRAY_SIZE(stores_of_fp); i++)
		if (code_has(code, frame, stores_of_fp[i].bytes, sizeof(stores_of_fp[i].bytes)))
			ret->fp_saved = frame + stores_of_fp[i].size;
	return true; /* rsp suffices */
}

/* mov 56(%register), %rsp: the stack of a goroutine's gobuf; or mov %register, %rsp.  0: neither.
 */
static unsigned switch_size(const struct go_part *code, uint64_t at)
{
	unsigned prefix = byte_at(code, at), operands = byte_at(code, at + 2);

	if ((prefix | 1) == 0x49 && byte_at(code, at + 1) == 0x8b && (operands & 0xf8) == 0x60 &&
	    byte_at(code, at + 3) == 56)
		return 4;
	if ((prefix | 4) == 0x4c && byte_at(code, at + 1) == 0x89 && (operands & 0xc7) == 0xc4)
		return 3;
	return 0;
}

static uint64_t find_switch(const struct go_part *code, uint64_t from)
{
	for (uint64_t at = from; at < code->size; at++)
		if (switch_size(code, at))
			return at + switch_size(code, at);
	return 0;
}

/* mov %rdi, ...(%rsp): the first one keeps the goroutine. */
static unsigned find_kept(const struct go_part *code)
{
	static const unsigned char store[] = { 0x48, 0x89, 0x7c, 0x24 };

	for (uint64_t at = 0; at < code->size; at++)
		if (code_has(code, at, store, sizeof(store)))
			return byte_at(code, at + sizeof(store));
	return 0;
}

/* call *%rax; in Go 1.26 mov %register, (%rsp); call of a function that jumps there.  0: neither.
 */
static unsigned call_size(const struct go_part *code, uint64_t at)
{
	static const unsigned char indirect[] = { 0xff, 0xd0 }, store[] = { 0x48, 0x89 };

	if (code_has(code, at, indirect, sizeof(indirect)))
		return sizeof(indirect);
	if (at >= 4 && code_has(code, at - 4, store, sizeof(store)) &&
	    (byte_at(code, at - 2) & 0xc7) == 0x04 && byte_at(code, at - 1) == 0x24 &&
	    byte_at(code, at) == 0xe8)
		return 5;
	return 0;
}

static bool find_call(const struct go_part *code, struct go_call *call)
{
	unsigned kept = find_kept(code);

	for (uint64_t at = call->end; kept && at < code->size; at++) {
		if (!call_size(code, at))
			continue;
		*call = (struct go_call){ at, at + call_size(code, at), kept };
		return true;
	}
	return false;
}

/* mov offset(%register), %register with four bytes of offset. */
static unsigned find_goroutine(const struct go_part *code)
{
	uint32_t largest = 0, offset;

	for (uint64_t at = 0; at + 7 <= MIN(code->size, (uint64_t)GOROUTINE_SEEN); at++) {
		if ((byte_at(code, at) & 0xf8) != 0x48 || byte_at(code, at + 1) != 0x8b ||
		    byte_at(code, at + 2) >> 6 != 2)
			continue;
		memcpy(&offset, code->bytes + at + 3, sizeof(offset));
		if (offset < GOROUTINE_MAX && offset % 8 == 0)
			largest = MAX(largest, offset);
	}
	return largest;
}

const struct go_machine go_of_x86_64 = { TRAMPOLINE, read_prologue, find_switch, find_call,
					 find_goroutine };
