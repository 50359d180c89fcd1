/*
 * Fuzzes what is read of a Python interpreter.  The first byte is the version; the rest is its
 * memory, which begins with a code object, and is taken for a table of lines and for a description
 * of the interpreter, and of a thread's block, as well.
 */
#include "fuzz.h"

#include "host/core/text/utf8.h"
#include "host/interpreter/python/python.h"

#include <string.h>

#define BASE 0x1000u

struct image {
	const uint8_t *bytes;
	size_t size;
};

static int read_image(void *context, uint64_t address, void *into, size_t size)
{
	const struct image *image = context;

	if (address < BASE || address - BASE > image->size || size > image->size - (address - BASE))
		return -1;
	memcpy(into, image->bytes + (address - BASE), size);
	return 0;
}

static void read_code(const struct python_layout *layout, struct image *image)
{
	const struct python python = { .base.memory = { read_image, image }, .layout = *layout };
	const struct interpreter *interpreter = &python.base;
	struct function function;

	if (interpreter_python.read(interpreter, BASE, &function))
		return;
	must(utf8_is_valid(function.name) && utf8_is_valid(function.file));
	must(!strpbrk(function.name, "\n\r\t\x1b") && !strpbrk(function.file, "\n\r\t\x1b"));
	must(function_equals(&function, &function));
	for (unsigned at = 0; at < 64; at++)
		must(interpreter_python.line(interpreter, &function,
					     BASE + layout->instructions + at) <= INT32_MAX);
	function_done(&function);
}

/* As the C library describes where a thread's number is. */
static void check_description(const struct image *image)
{
	struct {
		struct thread_word word;
		uint32_t block_size;
	} told;
	unsigned offset;

	if (image->size < sizeof(told))
		return;
	memcpy(&told, image->bytes, sizeof(told));
	offset = thread_number_check(&told.word, told.block_size);
	must(offset <= 4092 && offset % 4 == 0 && (!offset || offset == told.word.offset));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct image image = { bytes + 1, size - 1 };
	struct python_layout layout;
	struct err err = { 0 };

	if (!size)
		return 0;
	check_description(&image);
	for (int kind = PYTHON_LINES_STEPS; kind <= PYTHON_LINES_LOCATIONS; kind++)
		for (int64_t at = -2; at < 600; at += 38)
			must(python_line(kind, image.bytes, image.size, 7, at) <= INT32_MAX);
	if (!python_layout_find(bytes[0], image.bytes, image.size, &layout, &err))
		read_code(&layout, &image);
	return 0;
}
