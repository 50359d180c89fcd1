/*
 * Reads code objects and texts of CPython, and its three encodings of line numbers.  Sizes come
 * from foreign memory: each is bounded before it is used; each step through lines consumes at least
 * one byte.
 */
#include "host/core/text/utf8.h"
#include "host/interpreter/python/python.h"

#include <errno.h>
#include <stdlib.h>

#define TEXT_MAX  1024u      /* characters; a longer one is cut */
#define LINES_MAX (1u << 20) /* bytes of a table of lines */

#define REFERENCES_MAX UINT32_MAX /* also of objects that never die */
#define OBJECT_TYPE    8u
#define TEXT_LENGTH    16u
#define TEXT_STATE     32u
#define BYTES_SIZE     16u
#define BYTES_CONTENT  32u
#define NO_LINE        (-128)
#define UNIT           2 /* bytes of an instruction */

static unsigned line_of(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (unsigned)line : 0;
}

/* Pairs of steps: so many bytes, then so many lines. */
static unsigned find_step(const unsigned char *table, size_t size, unsigned first, int64_t at)
{
	int64_t line = first, begin = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		begin += table[i];
		if (begin > at)
			break;
		line += (signed char)table[i + 1];
	}
	return line_of(line);
}

/* Pairs of a range's length and the lines from the range before to it. */
static unsigned find_range(const unsigned char *table, size_t size, unsigned first, int64_t at)
{
	int64_t line = first, end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		signed char lines = (signed char)table[i + 1];

		end += table[i];
		line += lines == NO_LINE ? 0 : lines;
		if (at < end)
			return lines == NO_LINE ? 0 : line_of(line);
	}
	return 0;
}

struct entries {
	const unsigned char *at, *end;
};

/* Six bits at a time, the lowest first; the sign is the lowest bit. */
static int64_t take_signed(struct entries *entries)
{
	uint64_t value = 0;
	unsigned char byte = 0x40;

	for (unsigned shift = 0; byte & 0x40 && entries->at < entries->end && shift < 36;
	     shift += 6) {
		byte = *entries->at++;
		value |= (uint64_t)(byte & 0x3f) << shift;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum location {
	LOCATION_ONE_LINE = 10, /* and the two behind it: so many lines further */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* An entry begins with a byte above 127: its kind, and its number of instructions.  Columns are
 * skipped. */
static unsigned find_location(const unsigned char *table, size_t size, unsigned first, int64_t at)
{
	struct entries entries = { table, table + size };
	int64_t line = first, end = 0;

	while (entries.at < entries.end) {
		unsigned head = *entries.at++, kind = head >> 3 & 15;

		end += ((head & 7) + 1) * UNIT;
		if (kind == LOCATION_NO_COLUMNS || kind == LOCATION_LONG)
			line += take_signed(&entries);
		else if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS)
			line += kind - LOCATION_ONE_LINE;
		if (at < end)
			return kind == LOCATION_NONE ? 0 : line_of(line);
		while (entries.at < entries.end && *entries.at < 0x80)
			entries.at++;
	}
	return 0;
}

unsigned python_line(enum python_lines kind, const unsigned char *table, size_t size,
		     unsigned first_line, int64_t at)
{
	static unsigned (*const finders[])(const unsigned char *, size_t, unsigned, int64_t) = {
		[PYTHON_LINES_STEPS] = find_step,
		[PYTHON_LINES_RANGES] = find_range,
		[PYTHON_LINES_LOCATIONS] = find_location,
	};

	return at < 0 ? first_line : finders[kind](table, size, first_line, at);
}

/* An object begins with its reference count; a freed one with the address of the next free one, or
 * 0. */
static bool is_alive(const unsigned char *object)
{
	uint64_t references = word_in(object, 0);

	return references && references <= REFERENCES_MAX;
}

static uint32_t character_at(const unsigned char *characters, unsigned width, size_t i)
{
	uint16_t quarter;

	if (width == 1)
		return characters[i];
	if (width == 4)
		return half_in(characters, i * 4);
	memcpy(&quarter, characters + i * 2, sizeof(quarter));
	return quarter;
}

/* Characters above 0x10ffff and halves of pairs stand for bytes that were no text. */
static char *text_of(const unsigned char *characters, unsigned width, size_t count)
{
	char *text = malloc(count * UTF8_MAX + 1);
	size_t size = 0;

	if (!text)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		uint32_t character = character_at(characters, width, i);
		size_t length;

		if (character < 0x20 || character == 0x7f)
			character = '?';
		length = utf8_put(text + size, character);
		size += length ? length : utf8_put(text + size, 0xfffd);
	}
	text[size] = '\0';
	return text;
}

/* The bits of its state: interned 2, width 3, compact, ascii.  Texts that are not compact are those
 * of subclasses, which no compiler makes. */
int python_text_read(const struct python *self, uint64_t address, char **ret)
{
	unsigned char head[TEXT_STATE + 4], characters[TEXT_MAX * 4];
	unsigned state, width;
	uint64_t length;

	if (target_read(&self->base.memory, address, head, sizeof(head)))
		return -EFAULT;
	state = half_in(head, TEXT_STATE);
	width = state >> 2 & 7;
	length = word_in(head, TEXT_LENGTH);
	if (!is_alive(head) || !(state & 1u << 5) || (width != 1 && width != 2 && width != 4) ||
	    length > INT32_MAX)
		return -EFAULT;
	length = MIN(length, TEXT_MAX);
	address += state & 1u << 6 ? self->layout.ascii_text : self->layout.other_text;
	if (target_read(&self->base.memory, address, characters, length * width))
		return -EFAULT;
	*ret = text_of(characters, width, length);
	return *ret ? 0 : -ENOMEM;
}

/* The table of lines. */
static int read_table(const struct python *self, uint64_t address, struct function *function)
{
	unsigned char head[BYTES_CONTENT];
	uint64_t size;

	if (target_read(&self->base.memory, address, head, sizeof(head)))
		return -EFAULT;
	size = word_in(head, BYTES_SIZE);
	if (!is_alive(head) || size > LINES_MAX)
		return -EFAULT;
	function->table_size = size;
	return target_bytes(&self->base.memory, address + BYTES_CONTENT, size, &function->table);
}

/* All that is read of a code object. */
static size_t head_size(const struct python_layout *layout)
{
	size_t last =
		MAX(MAX(layout->filename, layout->name), MAX(layout->qualname, layout->linetable));

	return MAX(last, layout->firstlineno) + 8;
}

/* Another object may replace it during the reading, also with its parts at the same addresses: the
 * name is read first, and must still be the same afterwards. */
static bool is_same(const struct python *self, uint64_t code, unsigned name,
		    const unsigned char *head, const struct function *function)
{
	const struct python_layout *layout = &self->layout;
	const unsigned parts[] = { OBJECT_TYPE, layout->filename, name, layout->linetable };
	unsigned char again[PYTHON_CODE_BYTES];
	char *name_again = NULL;
	bool is_it;

	if (target_read(&self->base.memory, code, again, head_size(layout)) || !is_alive(again))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (word_in(again, parts[i]) != word_in(head, parts[i]))
			return false;
	is_it = half_in(again, layout->firstlineno) == function->first_line &&
		!python_text_read(self, word_in(again, name), &name_again) &&
		!strcmp(name_again, function->name);
	free(name_again);
	return is_it;
}

int python_read_function(const struct interpreter *interpreter, uint64_t code, struct function *ret)
{
	const struct python *self = python_of(interpreter);
	const struct python_layout *layout = &self->layout;
	unsigned name = layout->qualname ? layout->qualname : layout->name;
	uint64_t type = interpreter->symbols[PYTHON_CODE_TYPE].start;
	struct function function = { .code = code + layout->instructions };
	unsigned char head[PYTHON_CODE_BYTES];
	int r;

	if (target_read(&interpreter->memory, code, head, head_size(layout)) || !is_alive(head) ||
	    (type && word_in(head, OBJECT_TYPE) != type))
		return -EFAULT;
	function.first_line = half_in(head, layout->firstlineno);
	r = function.first_line > INT32_MAX
		    ? -EFAULT
		    : python_text_read(self, word_in(head, name), &function.name);
	if (!r)
		r = python_text_read(self, word_in(head, layout->filename), &function.file);
	if (!r)
		r = read_table(self, word_in(head, layout->linetable), &function);
	if (!r && !is_same(self, code, name, head, &function))
		r = -EFAULT;
	return function_hand_over(&function, r, ret);
}

unsigned python_line_of(const struct interpreter *interpreter, const struct function *function,
			uint64_t at)
{
	const struct python_layout *layout = &python_of(interpreter)->layout;
	int64_t offset =
		layout->unit ? (int64_t)(int32_t)at * layout->unit : (int64_t)(at - function->code);

	return python_line(layout->lines, function->table, function->table_size,
			   function->first_line, offset);
}
