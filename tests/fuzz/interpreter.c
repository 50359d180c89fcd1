/*
 * Fuzzes what is read of interpreters beside Python.  The first byte is the language; the rest is
 * its memory, which begins with a function.
 */
#include "fuzz.h"

#include "host/core/text/utf8.h"
#include "host/interpreter/ruby/ruby.h"

#define BASE             0x1000u
#define LUAJIT_PROTOTYPE 104u /* it lies before the code */

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

static const struct {
	const struct interpreter_kind *kind;
	unsigned version;
} fuzzed[] = {
	{ &interpreter_ruby, 301 },  { &interpreter_ruby, 303 },  { &interpreter_php, 802 },
	{ &interpreter_perl, 36 },   { &interpreter_lua, 50105 }, { &interpreter_lua, 50204 },
	{ &interpreter_lua, 50306 }, { &interpreter_lua, 50404 }, { &interpreter_luajit, 201 },
};

static void read_spot(const struct interpreter *interpreter)
{
	struct function spot = { 0 };

	if (interpreter->kind->read_spot(interpreter, BASE, &spot))
		return;
	must(utf8_is_valid(spot.file) && spot.first_line <= INT32_MAX);
	function_done(&spot);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct image image = { bytes + 1, size - 1 };
	const struct target_memory memory = { read_image, &image };
	struct interpreter interpreter = { .memory = memory, .symbols = { [3] = { BASE, BASE } } };
	const struct interpreter_kind *kind;
	struct function function = { 0 };
	char *text = NULL;
	uint64_t code;

	if (!size)
		return 0;
	kind = interpreter.kind = fuzzed[bytes[0] % ARRAY_SIZE(fuzzed)].kind;
	interpreter.version = fuzzed[bytes[0] % ARRAY_SIZE(fuzzed)].version;
	code = kind == &interpreter_luajit ? BASE + LUAJIT_PROTOTYPE : BASE;
	ruby_machine_find(&memory, BASE, BASE + image.size);
	if (!target_string(&memory, BASE + bytes[0], &text))
		must(utf8_is_valid(text));
	free(text);
	if (kind->read_spot)
		read_spot(&interpreter);
	if (kind->read(&interpreter, code, &function))
		return 0;
	must(utf8_is_valid(function.name) && utf8_is_valid(function.file));
	must(!strpbrk(function.name, "\n\r\t\x1b") && !strpbrk(function.file, "\n\r\t\x1b"));
	for (unsigned at = 0; kind->line && at < 64; at++)
		must(kind->line(&interpreter, &function, function.code + 8 * at) <= INT32_MAX);
	function_done(&function);
	return 0;
}
