/*
 * Classifies blobs by their names.
 */
#include "host/java/blob_rows.h"

#include "host/core/cleanup.h"
#include "host/java/code_rows.h"
#include "shared/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD       8u
#define PAGE_BYTES 4096u
#define NAME_SIZE  64u
#define CODE_MAX   ((uint64_t)1 << 20) /* no piece of code is larger */

/* By prefixes of their names; others are called, and return. */
static const struct {
	const char *name;
	enum code_kind kind;
} kinds[] = {
	{ "nmethod", CODE_METHOD },
	{ "native nmethod", CODE_METHOD },
	{ "I2C/C2I adapters", CODE_ADAPTER },
	{ "MethodHandles adapters", CODE_ADAPTER },
	{ "vtable chunks", CODE_FRAMELESS }, /* these grow in place */
	{ "native signature handlers", CODE_FRAMELESS },
	{ "InlineCacheBuffer", CODE_FRAMELESS },
	{ "SafepointBlob", CODE_SAFEPOINT },
	{ "DeoptimizationBlob", CODE_HANDLER },
	{ "ExceptionBlob", CODE_EXCEPTION },
	{ "UncommonTrapBlob", CODE_HANDLER },
	{ "forward_exception", CODE_FORWARDED },
	{ "Interpreter", CODE_INTERPRETER },
	{ "StubRoutines", CODE_STUBS },
	{ "C1 temporary CodeBuffer", CODE_UNKNOWN }, /* compilers at work */
	{ "Compile::", CODE_UNKNOWN },
};

#define ENTRY "method entry point"

/* "" where there is none.  The page behind it may not be there. */
static void read_name(char ret[NAME_SIZE], const struct java_memory *memory, uint64_t address)
{
	const struct memory_reader *reader = &memory->reader;
	size_t in_page = MIN(NAME_SIZE - 1, PAGE_BYTES - address % PAGE_BYTES);

	memset(ret, 0, NAME_SIZE);
	if (!address || (reader->read(reader->context, address, ret, NAME_SIZE - 1) &&
			 reader->read(reader->context, address, ret, in_page)))
		ret[0] = 0;
}

static enum code_kind kind_of(const struct java_blob *blob, const struct java_memory *memory)
{
	char name[NAME_SIZE];

	read_name(name, memory, blob->name);
	if (!name[0])
		return CODE_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strncmp(name, kinds[i].name, strlen(kinds[i].name)) != 0)
			continue;
		/* One without a frame forwards calls, as those of method handles do. */
		return kinds[i].kind == CODE_METHOD && blob->frame_size < 2 ? CODE_ADAPTER
									    : kinds[i].kind;
	}
	return CODE_ROUTINES;
}

static int add_part(struct blob_rows *self, const struct java_memory *memory,
		    java_rows_adder *add_code, const struct java_part *part,
		    const unsigned char *bytes)
{
	uint64_t offset = part->address + part->header - self->blob.code_begin;
	struct code code = { .kind = CODE_INTERPRETER,
			     .bytes = bytes + offset,
			     .size = part->size - part->header };
	char description[NAME_SIZE];

	read_name(description, memory, part->description);
	if (strstr(description, ENTRY))
		code.kind = CODE_ENTRY;
	return add_code(&self->rows, (uint32_t)offset, &code);
}

/* Each part separately: its initial state depends on its purpose. */
static int add_interpreter(struct blob_rows *self, const struct java_memory *memory,
			   const struct java_layout *layout, const unsigned char *bytes)
{
	CLEANUP(free) struct java_part *parts = NULL;
	const struct java_blob *blob = &self->blob;
	size_t count;
	int r = java_parts_read(&parts, &count, memory, layout, blob->code_begin, blob->code_end);

	if (!r)
		r = rows_add_kind(&self->rows, 0, UNWIND_BAD);
	for (size_t i = 0; !r && i < count; i++)
		r = add_part(self, memory, layout->add_rows, &parts[i], bytes);
	if (!r && count)
		r = rows_add_kind(&self->rows,
				  (uint32_t)(parts[count - 1].address + parts[count - 1].size -
					     blob->code_begin),
				  UNWIND_BAD);
	return r;
}

/* Where stubs begin, as far as described, within this blob. */
static size_t find_starts(uint32_t ret[JAVA_STUBS_MAX], const struct java_blob *blob,
			  const struct java_memory *memory, const struct java_layout *layout)
{
	size_t count = 0;

	for (size_t i = 0; i < layout->stub_count; i++) {
		uint64_t start = 0;

		if (!memory->reader.read(memory->reader.context, layout->stubs[i], &start,
					 sizeof(start)) &&
		    start >= blob->code_begin && start < blob->code_end)
			ret[count++] = (uint32_t)(start - blob->code_begin);
	}
	return count;
}

/* Word by word: unsettled code is summed up at each round. */
static uint64_t sum_up(uint64_t sum, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word = 0;

	for (; size >= WORD; size -= WORD, at += WORD) {
		memcpy(&word, at, WORD);
		sum = (sum ^ word) * HASH_PRIME;
	}
	for (; size; size--)
		sum = hash_add_byte(sum, *at++);
	return sum;
}

static uint64_t sum_of(const struct code *code)
{
	uint64_t sum = hash_add_byte(HASH_SEED, (unsigned char)code->kind);

	sum = sum_up(sum, code->starts, code->start_count * sizeof(*code->starts));
	return code->bytes ? sum_up(sum, code->bytes, code->size) : sum;
}

static int add_rows(struct blob_rows *self, struct blob_rows *before,
		    const struct java_memory *memory, const struct java_layout *layout,
		    const unsigned char *bytes, size_t size)
{
	const struct java_blob *blob = &self->blob;
	uint32_t starts[JAVA_STUBS_MAX];
	struct code code = { .kind = bytes ? kind_of(blob, memory) : CODE_UNKNOWN,
			     .bytes = bytes,
			     .size = size,
			     .starts = starts,
			     .frame_size = MIN(blob->frame_size, UINT32_MAX / WORD) * WORD,
			     .frame_complete = blob->frame_complete };

	if (code.kind == CODE_STUBS)
		code.start_count = find_starts(starts, blob, memory, layout);
	self->sum = sum_of(&code);
	if (before && before->sum == self->sum) {
		self->rows = before->rows;
		before->rows = (struct rows){ 0 };
		return 0;
	}
	if (code.kind == CODE_INTERPRETER)
		return add_interpreter(self, memory, layout, bytes);
	return layout->add_rows(&self->rows, 0, &code);
}

int blob_rows_make(struct blob_rows *self, struct blob_rows *before,
		   const struct java_memory *memory, const struct java_layout *layout)
{
	uint64_t size = self->blob.code_end - self->blob.code_begin;
	CLEANUP(free) unsigned char *bytes = malloc(size <= CODE_MAX ? size : 1);

	if (!bytes)
		return -ENOMEM;
	rows_done(&self->rows);
	if (size > CODE_MAX ||
	    memory->reader.read(memory->reader.context, self->blob.code_begin, bytes, (size_t)size))
		return add_rows(self, before, memory, layout, NULL, 0);
	return add_rows(self, before, memory, layout, bytes, (size_t)size);
}
