/*
 * CRuby: its frames are adjacent in a separate stack for each thread; each points to a sequence of
 * instructions ("iseq"), which has its name, its file and its lines.  Frames of functions in C have
 * none, and are native frames only.
 */
#include "host/core/text/text.h"
#include "host/interpreter/kind.h"
#include "host/interpreter/ruby/layout.h"
#include "host/interpreter/ruby/lines.h"
#include "host/interpreter/ruby/machine.h"

#include <errno.h>
#include <inttypes.h>

enum {
	SYMBOL_VERSION,
	SYMBOL_MACHINE,
};

/* Flags of objects. */
#define TYPE_MASK            0x1fu
#define TYPE_STRING          0x05u
#define TYPE_ARRAY           0x07u
#define TYPE_INTERNAL        0x1au
#define INTERNAL_KIND(flags) ((flags) >> 12 & 15)
#define INTERNAL_BLOCK       4u
#define INTERNAL_ISEQ        7u
#define FLAG_1               (1u << 13) /* of a text: not embedded; of an array: embedded */
#define SHORT_LENGTH(flags)  ((flags) >> 14 & 31)

#define OBJECT_BYTES 40u
#define ISEQ_BODY    16u
#define BODY_BYTES   160u
#define BODY_CODE    8u
#define BODY_PATH    64u
#define BODY_LABEL   80u
#define BODY_LINE                                                                      \
	88u /* a number as Ruby has them: its bits are one higher, and the lowest is 1 \
	     */

static bool is_name(const char *name)
{
	return interpreter_is_word(name, "libruby") || interpreter_is_word(name, "ruby");
}

/* Where the pointer to the virtual machine is; 0: there is none yet. */
static uint64_t find_root(const struct interpreter_binary *binary,
			  const struct target_memory *memory)
{
	uint64_t known = binary->symbols[SYMBOL_MACHINE].start;
	struct code_range data;

	if (known || !interpreter_binary_data(binary, &data))
		return known;
	return ruby_machine_find(memory, data.start, data.end);
}

static const struct ruby_layout *find_layout(const struct interpreter_binary *binary,
					     const struct target_memory *memory, struct err *err)
{
	const struct ruby_layout *layout = NULL;
	uint64_t major = 0, minor = 0;
	char bytes[8] = "";
	struct text text;

	if (memory->read(memory->context, binary->symbols[SYMBOL_VERSION].start, bytes, 5))
		bytes[0] = '\0';
	text = text_of(bytes);
	if (text_take_number(&text, 10, &major) && text_take_char(&text, '.') &&
	    text_take_number(&text, 10, &minor))
		layout = ruby_layout_find((unsigned)(major * 100 + minor));
	if (!layout)
		err_set(err, -EOPNOTSUPP, "version %" PRIu64 ".%" PRIu64 " is not supported", major,
			minor);
	return layout;
}

static int ruby_recognise(const struct interpreter_binary *binary,
			  const struct target_memory *memory, unsigned *ret_version,
			  struct kernel_interpreter *ret, struct err *err)
{
	const struct ruby_layout *layout = find_layout(binary, memory, err);
	uint64_t root = layout ? find_root(binary, memory) : 0;

	if (!layout)
		return -EOPNOTSUPP;
	if (!root)
		return -EAGAIN;
	*ret_version = layout->version;
	*ret = layout->walk;
	ret->root = root;
	return 0;
}

static int read_object(const struct target_memory *memory, uint64_t address,
		       unsigned char bytes[OBJECT_BYTES])
{
	return address & 7 || memory->read(memory->context, address, bytes, OBJECT_BYTES) ? -EFAULT
											  : 0;
}

static int read_text(const struct target_memory *memory, const struct ruby_layout *layout,
		     uint64_t address, char **ret)
{
	unsigned char object[OBJECT_BYTES];
	uint64_t flags, length;

	if (read_object(memory, address, object))
		return -EFAULT;
	flags = word_in(object, 0);
	if ((flags & TYPE_MASK) != TYPE_STRING)
		return -EFAULT;
	length = flags & FLAG_1 || layout->is_sized ? word_in(object, 16) : SHORT_LENGTH(flags);
	return target_text(memory, flags & FLAG_1 ? word_in(object, 24) : address + layout->text,
			   length, ret);
}

/* A path is a text, or a pair of that and of the real one. */
static int read_path(const struct target_memory *memory, const struct ruby_layout *layout,
		     uint64_t address, char **ret)
{
	unsigned char object[OBJECT_BYTES];
	uint64_t flags;

	if (read_object(memory, address, object))
		return -EFAULT;
	flags = word_in(object, 0);
	if ((flags & TYPE_MASK) == TYPE_ARRAY)
		address = flags & FLAG_1 ? word_in(object, 16)
					 : target_word(memory, word_in(object, 32));
	return read_text(memory, layout, address, ret);
}

/* The fixed part of a sequence; -ENOENT: the frame runs a block that is written in C. */
static int read_body(const struct target_memory *memory, uint64_t address,
		     unsigned char body[BODY_BYTES])
{
	unsigned char object[OBJECT_BYTES];
	uint64_t flags;

	if (read_object(memory, address, object))
		return -EFAULT;
	flags = word_in(object, 0);
	if ((flags & TYPE_MASK) == TYPE_INTERNAL && INTERNAL_KIND(flags) == INTERNAL_BLOCK)
		return -ENOENT;
	if ((flags & TYPE_MASK) != TYPE_INTERNAL || INTERNAL_KIND(flags) != INTERNAL_ISEQ ||
	    memory->read(memory->context, word_in(object, ISEQ_BODY), body, BODY_BYTES))
		return -EFAULT;
	return 0;
}

/* Instructions are addresses in the loop. */
static uint64_t find_loop(const struct interpreter_binary *binary,
			  const struct target_memory *memory, unsigned version, uint64_t code)
{
	unsigned char body[BODY_BYTES];

	(void)binary;
	(void)version;
	return read_body(memory, code, body) ? 0 : target_word(memory, word_in(body, BODY_CODE));
}

static int read_parts(const struct target_memory *memory, const struct ruby_layout *layout,
		      const unsigned char *body, struct function *function)
{
	int r = read_text(memory, layout, word_in(body, BODY_LABEL), &function->name);

	if (!r)
		r = read_path(memory, layout, word_in(body, BODY_PATH), &function->file);
	if (!r)
		r = ruby_lines_read(memory, layout, body, function);
	function->code = word_in(body, BODY_CODE);
	function->first_line = (unsigned)MIN(word_in(body, BODY_LINE) >> 1, INT32_MAX);
	return r;
}

/* Another object may replace it during the reading. */
static int read_function(const struct target_memory *memory, unsigned version, uint64_t code,
			 struct function *ret)
{
	const struct ruby_layout *layout = ruby_layout_find(version);
	unsigned char body[BODY_BYTES], again[BODY_BYTES];
	struct function function = { 0 };
	int r = read_body(memory, code, body);

	if (!r)
		r = read_parts(memory, layout, body, &function);
	if (!r && (read_body(memory, code, again) ||
		   memcmp(body + BODY_PATH, again + BODY_PATH, BODY_LINE + 8 - BODY_PATH)))
		r = -EFAULT;
	return function_hand_over(&function, r, ret);
}

/* A frame stores the next instruction. */
static unsigned line_of(const struct function *function, uint64_t at)
{
	uint64_t word = (at - function->code) / 8;

	return function_line_at(function, word ? word - 1 : 0);
}

const struct interpreter_kind interpreter_ruby = {
	.title = "Ruby",
	.language = "ruby",
	.is_name = is_name,
	.symbols = { [SYMBOL_VERSION] = "ruby_version", [SYMBOL_MACHINE] = "ruby_current_vm_ptr" },
	.recognise = ruby_recognise,
	.loop = find_loop,
	.read = read_function,
	.line = line_of,
};
