/*
 * CRuby: its frames are adjacent in a separate stack for each thread; each points to a sequence of
 * instructions ("iseq"), which has its name, its file and its lines.  Frames of functions in C have
 * none, and are native frames only.
 */
#include "host/interpreter/ruby/ruby.h"

#include "host/core/text/text.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define ENTRIES_MAX      (1u << 15)
#define INSTRUCTIONS_MAX (1u << 20)
#define ENTRY_BYTES      12u

#define NEAR         54u /* instructions with counts kept as numbers */
#define NEAR_IN_WORD 9u
#define BLOCK        512u
#define BLOCK_BYTES  80u /* a count, more counts, and the bits */
#define BLOCK_BITS   16u /* where they begin */
#define SIZE         4u  /* of the body: how many words of instructions there are */

/* Whether a line begins there; `count` of them have begun before. */
static bool line_begins(const unsigned char *index, size_t instruction, size_t count)
{
	size_t far = instruction - NEAR;
	const unsigned char *block;

	if (instruction < NEAR)
		return (word_in(index, instruction / NEAR_IN_WORD * 8) >>
				instruction % NEAR_IN_WORD * 7 &
			127) > count;
	block = index + NEAR / NEAR_IN_WORD * 8 + far / BLOCK * BLOCK_BYTES + BLOCK_BITS;
	return word_in(block, far % BLOCK / 64 * 8) >> far % 64 & 1;
}

static int read_index(const struct target_memory *memory, uint64_t address, size_t instructions,
		      struct function *function)
{
	size_t size = (MIN(instructions, NEAR) + NEAR_IN_WORD - 1) / NEAR_IN_WORD * 8, count = 0;
	unsigned char *index;
	int r;

	if (instructions >= NEAR)
		size += (instructions - NEAR + BLOCK - 1) / BLOCK * BLOCK_BYTES;
	r = target_bytes(memory, address, size, &index);
	if (r)
		return r;
	for (size_t i = 0; i < instructions && count < function->line_count; i++)
		if (line_begins(index, i, count))
			function->lines[count++].at = (uint32_t)i;
	function->line_count = count;
	free(index);
	return 0;
}

static int read_positions(const struct target_memory *memory, uint64_t address,
			  struct function *function)
{
	unsigned char *positions;
	int r = target_bytes(memory, address, function->line_count * sizeof(uint32_t), &positions);

	if (r)
		return r;
	for (size_t i = 0; i < function->line_count; i++)
		function->lines[i].at = half_in(positions, i * sizeof(uint32_t));
	free(positions);
	return 0;
}

int ruby_lines_read(const struct target_memory *memory, const struct ruby_layout *layout,
		    const unsigned char *body, struct function *function)
{
	uint32_t instructions = half_in(body, SIZE), count = half_in(body, layout->line_count);
	uint64_t positions = word_in(body, layout->line_positions);
	unsigned char *entries;
	int r;

	if (count > ENTRIES_MAX || instructions > INSTRUCTIONS_MAX)
		return -EFAULT;
	function->line_count = count;
	function->lines = calloc(count + 1, sizeof(*function->lines));
	if (!function->lines)
		return -ENOMEM;
	r = target_bytes(memory, word_in(body, layout->line_table), count * ENTRY_BYTES, &entries);
	if (r)
		return r;
	for (size_t i = 0; i < count; i++)
		function->lines[i].line = MIN(half_in(entries, i * ENTRY_BYTES), INT32_MAX);
	free(entries);
	if (positions)
		return read_positions(memory, positions, function);
	return read_index(memory, word_in(body, layout->line_index), instructions, function);
}

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
#define BODY_LINE    88u /* a number as Ruby keeps it: shifted left by one, with bit 0 set */

#define DATA_MAX (1u << 20) /* bytes that are read; Debian's have less than half of it */

#define MACHINE_BYTES  48u
#define MACHINE_RACTOR 32u
#define MACHINE_THREAD 40u
#define THREAD_BYTES   40u
#define THREAD_RACTOR  24u
#define THREAD_MACHINE 32u

/* Layouts are from the headers of CRuby on 64-bit machines; they do not change within a version.
 * Fields behind a lock are not used: its size varies. */
#define FRAME_FINISH 0x20 /* the loop ends with this frame: C code called it */

#define MAIN_THREAD 40 /* in the virtual machine */
#define FRAME                                                                                      \
	.holder_frame = 16, .holder_stack = 0, .holder_words = 8, .frame_size = 40, .frame_at = 0, \
	.frame_code = 16, .frame_mark = 32, .is_mark_behind = 1, .mark_bits = FRAME_FINISH,        \
	.code_name = KERNEL_NO_STEP, .line = KERNEL_NO_STEP

static const struct ruby_layout layouts[] = {
	{ .version = 301,
	  .walk = { .start = MAIN_THREAD,
		    .thread_next = 0,
		    .thread_native = KERNEL_NO_STEP,
		    .thread_id = 88,
		    .thread_holder = 40,
		    .frame_stride = 64,
		    FRAME },
	  .line_table = 120,
	  .line_positions = 128,
	  .line_count = 136,
	  .line_index = 144,
	  .text = 16 },
	{ .version = 303,
	  .walk = { .start = MAIN_THREAD,
		    .thread_next = 0,
		    .thread_native = 40,
		    .thread_id = 24,
		    .thread_holder = 48,
		    .frame_stride = 56,
		    FRAME },
	  .line_table = 112,
	  .line_positions = 120,
	  .line_count = 128,
	  .line_index = 136,
	  .text = 24,
	  .is_sized = 1 },
};

const struct ruby_layout *ruby_layout_find(unsigned version)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}

static bool is_machine(const struct target_memory *memory, uint64_t address)
{
	unsigned char machine[MACHINE_BYTES], thread[THREAD_BYTES];
	uint64_t ractor, first;

	if (!address || address & 7 || address >> 48 ||
	    target_read(memory, address, machine, sizeof(machine)))
		return false;
	ractor = word_in(machine, MACHINE_RACTOR);
	first = word_in(machine, MACHINE_THREAD);
	return ractor && first && !(first & 7) &&
	       !target_read(memory, first, thread, sizeof(thread)) &&
	       word_in(thread, THREAD_MACHINE) == address &&
	       word_in(thread, THREAD_RACTOR) == ractor;
}

/* Finds the virtual machine by its shape: it leads to its first thread, which leads back to it, and
 * both lead to the same Ractor. */
uint64_t ruby_machine_find(const struct target_memory *memory, uint64_t start, uint64_t end)
{
	size_t size = end > start ? (size_t)MIN(end - start, DATA_MAX) : 0;
	unsigned char *data;
	uint64_t found = 0;

	start = (start + 7) & ~7ull;
	if (size <= 8 || target_bytes(memory, start, size - 8, &data))
		return 0;
	for (size_t i = 0; !found && i + 16 <= size; i += 8)
		if (is_machine(memory, word_in(data, i)))
			found = start + i;
	free(data);
	return found;
}

static const struct ruby_layout *find_layout(const struct interpreter *self, struct err *err)
{
	const struct ruby_layout *layout = NULL;
	uint64_t major = 0, minor = 0;
	char bytes[8] = "";
	struct text text;

	if (target_read(&self->memory, self->symbols[SYMBOL_VERSION].start, bytes, 5))
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

static int ruby_recognise(struct interpreter *self, const struct space *space, struct err *err)
{
	const struct ruby_layout *layout = find_layout(self, err);
	uint64_t root = self->symbols[SYMBOL_MACHINE].start;
	struct code_range data;

	(void)space;
	if (!layout)
		return -EOPNOTSUPP;
	if (!root && interpreter_find_segment(self, PF_W, &data))
		root = ruby_machine_find(&self->memory, data.start, data.end);
	if (!root)
		return -EAGAIN;
	self->version = layout->version;
	self->walk = layout->walk;
	self->walk.root = root;
	return 0;
}

static int read_object(const struct target_memory *memory, uint64_t address,
		       unsigned char bytes[OBJECT_BYTES])
{
	return address & 7 || target_read(memory, address, bytes, OBJECT_BYTES) ? -EFAULT : 0;
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
	    target_read(memory, word_in(object, ISEQ_BODY), body, BODY_BYTES))
		return -EFAULT;
	return 0;
}

/* Instructions are addresses in the loop. */
static uint64_t find_loop(const struct interpreter *self, uint64_t code)
{
	unsigned char body[BODY_BYTES];

	return read_body(&self->memory, code, body)
		       ? 0
		       : target_word(&self->memory, word_in(body, BODY_CODE));
}

/* Another object may replace it during the reading. */
static int read_function(const struct interpreter *self, uint64_t code, struct function *ret)
{
	const struct ruby_layout *layout = ruby_layout_find(self->version);
	unsigned char body[BODY_BYTES], again[BODY_BYTES];
	struct function function = { 0 };
	int r = read_body(&self->memory, code, body);

	if (!r) {
		function.code = word_in(body, BODY_CODE);
		function.first_line = (unsigned)MIN(word_in(body, BODY_LINE) >> 1, INT32_MAX);
		r = read_text(&self->memory, layout, word_in(body, BODY_LABEL), &function.name);
	}
	if (!r)
		r = read_path(&self->memory, layout, word_in(body, BODY_PATH), &function.file);
	if (!r)
		r = ruby_lines_read(&self->memory, layout, body, &function);
	if (!r && (read_body(&self->memory, code, again) ||
		   memcmp(body + BODY_PATH, again + BODY_PATH, BODY_LINE + 8 - BODY_PATH)))
		r = -EFAULT;
	return function_hand_over(&function, r, ret);
}

/* A frame stores the next instruction. */
static unsigned line_of(const struct interpreter *self, const struct function *function,
			uint64_t at)
{
	uint64_t word = (at - function->code) / 8;

	(void)self;
	return function_line_at(function, word ? word - 1 : 0);
}

const struct interpreter_kind interpreter_ruby = {
	.title = "Ruby",
	.language = "ruby",
	.size = sizeof(struct interpreter),
	.names = { "ruby", "libruby" },
	.symbols = { [SYMBOL_VERSION] = "ruby_version", [SYMBOL_MACHINE] = "ruby_current_vm_ptr" },
	.recognise = ruby_recognise,
	.find_loop = find_loop,
	.read = read_function,
	.line = line_of,
};
