/*
 * Fuzzes what is read of a Java virtual machine.  The bytes are its memory, which begins with the
 * words that its symbols lead to; and they are taken for code of each kind.
 */
#include "fuzz.h"

#include "host/java/blob_rows.h"
#include "host/java/code_rows.h"

#include <string.h>

#define BASE       0x1000u
#define CODE_AT    0x3000u /* where the seed has its heap */
#define CODE_BYTES 512u

struct image {
	const uint8_t *bytes;
	size_t size;
};

static int read_image(void *context, uint64_t address, void *into, size_t size)
{
	const struct image *image = context;

	if (address < BASE || address - BASE > image->size || size > image->size - (address - BASE))
		return -14;
	memcpy(into, image->bytes + (address - BASE), size);
	return 0;
}

static void read_pieces(void *context, const uint64_t *addresses, size_t count, size_t size,
			unsigned char *into)
{
	for (size_t i = 0; i < count; i++)
		if (read_image(context, addresses[i], into + i * size, size))
			memset(into + i * size, 0, size);
}

static void check_rows(const struct rows *rows, uint64_t size)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct unwind_row *row = &rows->items[i];

		must(row->pc <= size);
		must(!i || rows->items[i - 1].pc < row->pc);
		must((row->kind & UNWIND_KIND_MASK) < UNWIND_KINDS);
		if (row->kind == UNWIND_SPECIAL) {
			must(row->cfa < rows->special_count);
			must(rows->specials[row->cfa].base <= UNWIND_BASE_REGISTER + 31);
		}
	}
}

static void follow_code(java_rows_adder *add_rows, const uint8_t *bytes, size_t size)
{
	for (int kind = CODE_ROUTINES; kind <= CODE_UNKNOWN; kind++) {
		const struct code code = { .kind = kind,
					   .bytes = bytes,
					   .size = size,
					   .frame_size = 32,
					   .frame_complete = (uint32_t)(size / 4) };
		struct rows rows = { 0 };

		must(!add_rows(&rows, 0, &code));
		check_rows(&rows, size);
		rows_done(&rows);
	}
}

static void follow_both(const uint8_t *bytes, size_t size)
{
	follow_code(java_add_rows_x86_64, bytes, size);
	follow_code(java_add_rows_aarch64, bytes, size);
}

static void read_blobs(const struct java_memory *memory, const struct java_layout *layout,
		       const struct java_heap *heap)
{
	struct java_blob *blobs = NULL;
	uint64_t end = 0;
	size_t count;

	if (java_blobs_read(&blobs, &count, memory, layout, heap))
		return;
	for (size_t i = 0; i < count; i++) {
		struct blob_rows made = { .blob = blobs[i] };

		must(blobs[i].code_begin >= end && blobs[i].code_end > blobs[i].code_begin);
		must(blobs[i].code_end <= heap->high);
		end = blobs[i].code_end;
		must(!blob_rows_make(&made, NULL, memory, layout));
		check_rows(&made.rows, blobs[i].code_end - blobs[i].code_begin);
		rows_done(&made.rows);
	}
	free(blobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct image image = { bytes, size };
	const struct java_memory memory = { { read_image, &image }, read_pieces };
	struct java_heap heaps[JAVA_HEAPS_MAX] = { 0 };
	uint64_t symbols[JAVA_SYMBOLS];
	struct java_layout layout;
	struct err err = { 0 };
	int count;

	if (size > CODE_AT)
		follow_both(bytes + CODE_AT, MIN(size - CODE_AT, CODE_BYTES));
	else
		follow_both(bytes, MIN(size, CODE_BYTES));
	for (unsigned i = 0; i < JAVA_SYMBOLS; i++)
		symbols[i] = BASE + i * 8;
	if (java_layout_read(&layout, &memory.reader, symbols, &err)) {
		must(err.what[0]);
		return 0;
	}
	count = java_heaps_read(heaps, &memory, &layout);
	for (int i = 0; i < count; i++) {
		layout.add_rows = java_add_rows_x86_64;
		read_blobs(&memory, &layout, &heaps[i]);
		layout.add_rows = java_add_rows_aarch64;
		read_blobs(&memory, &layout, &heaps[i]);
	}
	return 0;
}
