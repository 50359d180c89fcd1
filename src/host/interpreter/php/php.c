/*
 * PHP, as a program and as a server's module, without threads of its own: one chain of frames, each
 * with its function and its present operation, which has its line.
 */
#include "host/interpreter/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SYMBOL_LOOP,
	SYMBOL_STATE,
	SYMBOL_MODULES,
};

#define PHP_8_2 20220829u /* the API of modules: a number for each version of PHP */

/* Offsets are from the headers of PHP on 64-bit machines; root: in the interpreter's state. */
static const struct kernel_interpreter php_8_2 = {
	.root = 488,
	.start = KERNEL_NO_STEP,
	.thread_next = KERNEL_NO_STEP,
	.thread_holder = KERNEL_NO_STEP,
	.holder_frame = KERNEL_NO_STEP,
	.frame_size = 56,
	.frame_at = 0,
	.frame_code = 24,
	.frame_mark = 40,
	.frame_previous = 48,
	.line = 24,
	.code_name = 8,
	.code_file = 152,
	.mark_bits = 1u << 17 /* C code called it */
};

#define TABLE_ENTRIES 16u /* in a table: where its entries are */
#define MODULE_API    4u

#define FUNCTION_INTERNAL 1u
#define FUNCTION_USER     2u
#define FUNCTION_EVAL     4u
#define FUNCTION_NAME     8u
#define FUNCTION_CLASS    16u
#define FUNCTION_FILE     152u
#define FUNCTION_LINE     160u
#define FUNCTION_HEAD     24u /* the part that functions written in C have, too */
#define FUNCTION_BYTES    164u
#define CLASS_NAME        8u

#define TEXT_KIND   4u
#define TEXT_HASH   8u
#define TEXT_LENGTH 16u
#define TEXT_BYTES  24u
#define KIND_TEXT   6u

static int php_recognise(struct interpreter *self, const struct space *space, struct err *err)
{
	/* Each module has the version that it was made for; the first one is the interpreter's. */
	uint64_t table = self->symbols[SYMBOL_MODULES].start;
	uint64_t entries = table ? target_word(&self->memory, table + TABLE_ENTRIES) : 0;
	uint64_t module = entries ? target_word(&self->memory, entries) : 0;
	unsigned api = module ? (unsigned)target_word(&self->memory, module + MODULE_API) : 0;

	(void)space;
	if (!self->symbols[SYMBOL_STATE].start)
		return err_set(err, -EOPNOTSUPP, "builds with threads (ZTS) are not supported");
	if (!api) /* it has not begun yet */
		return -EAGAIN;
	if (api != PHP_8_2)
		return err_set(err, -EOPNOTSUPP, "its version (module API %u) is not supported",
			       api);
	self->walk = php_8_2;
	self->walk.root += self->symbols[SYMBOL_STATE].start;
	interpreter_set_loop(self, self->symbols[SYMBOL_LOOP].start);
	return 0;
}

/* Texts have their hash, once it was needed: this detects freed and reused ones. */
static int read_text(const struct target_memory *memory, uint64_t address, char **ret)
{
	unsigned char head[TEXT_BYTES], bytes[TARGET_TEXT_MAX];
	uint64_t length, hash, found = 5381;

	if (address & 7 || target_read(memory, address, head, sizeof(head)))
		return -EFAULT;
	length = word_in(head, TEXT_LENGTH);
	hash = word_in(head, TEXT_HASH);
	if ((half_in(head, TEXT_KIND) & 15) != KIND_TEXT || length > INT32_MAX)
		return -EFAULT;
	if (hash && length <= sizeof(bytes)) {
		if (target_read(memory, address + TEXT_BYTES, bytes, length))
			return -EFAULT;
		for (size_t i = 0; i < length; i++)
			found = found * 33 + bytes[i];
		if ((found | 1ull << 63) != hash)
			return -EFAULT;
	}
	return target_text(memory, address + TEXT_BYTES, length, ret);
}

/* "name", "Class::name". */
static int read_name(const struct target_memory *memory, const unsigned char *head, char **ret)
{
	uint64_t class = word_in(head, FUNCTION_CLASS);
	char *own = NULL, *of = NULL;
	int r = read_text(memory, word_in(head, FUNCTION_NAME), &own);

	if (!r && class)
		r = read_text(memory, target_word(memory, class + CLASS_NAME), &of);
	if (!r)
		r = asprintf(ret, "%s%s%s", of ? of : "", of ? "::" : "", own) < 0 ? -ENOMEM : 0;
	free(own);
	free(of);
	return r;
}

static int read_named(const struct target_memory *memory, uint64_t code, struct function *function)
{
	unsigned char head[FUNCTION_BYTES] = { 0 };
	int r;

	if (target_read(memory, code, head, FUNCTION_HEAD))
		return -EFAULT;
	function->is_native = head[0] == FUNCTION_INTERNAL;
	if (!function->is_native && ((head[0] != FUNCTION_USER && head[0] != FUNCTION_EVAL) ||
				     target_read(memory, code, head, sizeof(head))))
		return -EFAULT;
	r = read_name(memory, head, &function->name);
	if (r)
		return r;
	function->first_line = MIN(half_in(head, FUNCTION_LINE), INT32_MAX);
	if (!function->is_native)
		return read_text(memory, word_in(head, FUNCTION_FILE), &function->file);
	function->file = strdup("");
	return function->file ? 0 : -ENOMEM;
}

static int read_function(const struct interpreter *self, uint64_t code, struct function *ret)
{
	struct function function = { 0 };
	int r;

	if (!(code & KERNEL_OUTSIDE)) {
		r = read_named(&self->memory, code, &function);
	} else { /* the code of a file that is outside of functions */
		function.name = strdup("<main>");
		r = function.name ? read_text(&self->memory, code & ~(uint64_t)KERNEL_OUTSIDE,
					      &function.file)
				  : -ENOMEM;
	}
	return function_hand_over(&function, r, ret);
}

/* Kernel programs send the line. */
static unsigned line_of(const struct interpreter *self, const struct function *function,
			uint64_t at)
{
	(void)self;
	(void)function;
	return (unsigned)MIN(at, INT32_MAX);
}

const struct interpreter_kind interpreter_php = {
	.title = "PHP",
	.language = "php",
	.size = sizeof(struct interpreter),
	.names = { "php", "libphp" },
	.symbols = { [SYMBOL_LOOP] = "execute_ex",
		     [SYMBOL_STATE] = "executor_globals",
		     [SYMBOL_MODULES] = "module_registry" },
	.recognise = php_recognise,
	.read = read_function,
	.line = line_of,
};
