/*
 * Finds glibc's __start_context (x86-64) and __startcontext (aarch64).
 */
#include "host/unwind/tables/context_ends.h"

#include <string.h>

#define MARK_SIZE  4u /* of an instruction that may be first: a landing pad */
#define SHAPE_SIZE 26u

struct code_shape {
	unsigned machine, size;
	unsigned char bytes[SHAPE_SIZE], mask[SHAPE_SIZE];
};

#define ANY  0x00
#define SAME 0xff

static const struct code_shape shapes[] = {
	/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je 1f; call setcontext;
	 * mov %rax, %rdi; 1: call exit; hlt */
	{
		.machine = EM_X86_64,
		.size = 26,
		.bytes = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85,
			   0xff, 0x74, 0x08, 0xe8, 0,    0,    0,    0,    0x48,
			   0x89, 0xc7, 0xe8, 0,    0,    0,    0,    0xf4 },
		.mask = { SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME,
			  SAME, SAME, SAME, SAME, ANY,  ANY,  ANY,  ANY,  SAME,
			  SAME, SAME, SAME, ANY,  ANY,  ANY,  ANY,  SAME },
	},
	/* mov x0, x19; cbnz x0, setcontext; b exit */
	{
		.machine = EM_AARCH64,
		.size = 12,
		.bytes = { 0xe0, 0x03, 0x13, 0xaa, 0, 0, 0, 0xb5, 0, 0, 0, 0x14 },
		.mask = { SAME, SAME, SAME, SAME, 0x1f, ANY, ANY, SAME, ANY, ANY, ANY, 0xfc },
	},
};

static const unsigned char marks[][MARK_SIZE] = {
	{ 0xf3, 0x0f, 0x1e, 0xfa }, /* endbr64 */
	{ 0x5f, 0x24, 0x03, 0xd5 }, /* bti c */
	{ 0x1f, 0x20, 0x03, 0xd5 }, /* nop, in its place */
};

static const struct code_shape *shape_of(unsigned machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (shapes[i].machine == machine)
			return &shapes[i];
	return NULL;
}

static bool is_mark(const unsigned char *bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (!memcmp(bytes, marks[i], MARK_SIZE))
			return true;
	return false;
}

static bool has_shape(const unsigned char *bytes, const struct code_shape *shape)
{
	for (unsigned i = 0; i < shape->size; i++)
		if ((bytes[i] & shape->mask[i]) != shape->bytes[i])
			return false;
	return true;
}

/* True when the entry covers exactly this code. */
static bool is_context_end(const struct frame_entry *entry, const struct object *object,
			   const struct code_shape *shape)
{
	uint64_t size = entry->end - entry->start;
	bool is_marked = size == shape->size + MARK_SIZE;
	struct object_part code;

	if (entry->kind != ENTRY_PROGRAM || (!is_marked && size != shape->size) ||
	    object_at(object, entry->start, &code) < 0 || code.size < size)
		return false;
	return is_marked ? is_mark(code.bytes) && has_shape(code.bytes + MARK_SIZE, shape)
			 : has_shape(code.bytes, shape);
}

void context_end_mark(struct frame_entry *entry)
{
	entry->kind = ENTRY_END;
	entry->start -= entry->start > 0;
}

void context_ends_mark(struct frames *frames, const struct object *object)
{
	const struct code_shape *shape = shape_of(object->header.e_machine);

	for (size_t i = 0; shape && i < frames->count; i++)
		if (is_context_end(&frames->entries[i], object, shape))
			context_end_mark(&frames->entries[i]);
}
