/*
 * Reads code objects, texts and bytes of CPython.  Sizes come from foreign memory: each is bounded
 * before it is used.
 */
#include "host/python/code.h"

#include "host/python/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX  1024u      /* characters; a longer one is cut */
#define LINES_MAX (1u << 20) /* bytes of a table of lines */

#define REFERENCES_MAX UINT32_MAX /* also of objects that never die */
#define OBJECT_TYPE    8u
#define TEXT_LENGTH    16u
#define TEXT_STATE     32u
#define BYTES_SIZE     16u
#define BYTES_CONTENT  32u

static uint64_t word_at(const unsigned char *bytes, unsigned offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint32_t half_at(const unsigned char *bytes, unsigned offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, sizeof(half));
	return half;
}

/* An object begins with its reference count; a freed one with the address of the next free one, or
 * 0. */
static bool is_alive(const unsigned char *object)
{
	uint64_t references = word_at(object, 0);

	return references && references <= REFERENCES_MAX;
}

/* Characters above 0x10ffff and halves of pairs stand for bytes that were no text. */
static size_t put_character(char *to, uint32_t character)
{
	if (character >= 0x110000 || (character >= 0xd800 && character < 0xe000))
		character = 0xfffd;
	if (character < 0x20 || character == 0x7f)
		character = '?';
	if (character < 0x80) {
		to[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		to[0] = (char)(0xc0 | character >> 6);
		to[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		to[0] = (char)(0xe0 | character >> 12);
		to[1] = (char)(0x80 | (character >> 6 & 0x3f));
		to[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | character >> 18);
	to[1] = (char)(0x80 | (character >> 12 & 0x3f));
	to[2] = (char)(0x80 | (character >> 6 & 0x3f));
	to[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

static uint32_t character_at(const unsigned char *characters, unsigned width, size_t i)
{
	uint16_t quarter;

	if (width == 1)
		return characters[i];
	if (width == 4)
		return half_at(characters, (unsigned)i * 4);
	memcpy(&quarter, characters + i * 2, sizeof(quarter));
	return quarter;
}

static char *text_of(const unsigned char *characters, unsigned width, size_t count)
{
	char *text = malloc(count * 4 + 1);
	size_t size = 0;

	if (!text)
		return NULL;
	for (size_t i = 0; i < count; i++)
		size += put_character(text + size, character_at(characters, width, i));
	text[size] = '\0';
	return text;
}

/* The bits of its state: interned 2, width 3, compact, ascii.  Texts that are not compact are those
 * of subclasses, which no compiler makes. */
int python_text_read(const struct python_memory *memory, const struct python_layout *layout,
		     uint64_t address, char **ret)
{
	unsigned char head[TEXT_STATE + 4], characters[TEXT_MAX * 4];
	unsigned state, width;
	uint64_t length;

	if (memory->read(memory->context, address, head, sizeof(head)))
		return -EFAULT;
	state = half_at(head, TEXT_STATE);
	width = state >> 2 & 7;
	length = word_at(head, TEXT_LENGTH);
	if (!is_alive(head) || !(state & 1u << 5) || (width != 1 && width != 2 && width != 4) ||
	    length > INT32_MAX)
		return -EFAULT;
	length = MIN(length, TEXT_MAX);
	address += state & 1u << 6 ? layout->ascii_text : layout->other_text;
	if (memory->read(memory->context, address, characters, length * width))
		return -EFAULT;
	*ret = text_of(characters, width, length);
	return *ret ? 0 : -ENOMEM;
}

static int read_bytes(const struct python_memory *memory, uint64_t address, unsigned char **ret,
		      size_t *ret_size)
{
	unsigned char head[BYTES_CONTENT];
	uint64_t size;

	if (memory->read(memory->context, address, head, sizeof(head)))
		return -EFAULT;
	size = word_at(head, BYTES_SIZE);
	if (!is_alive(head) || size > LINES_MAX)
		return -EFAULT;
	*ret = malloc(size + 1);
	if (!*ret)
		return -ENOMEM;
	if (memory->read(memory->context, address + BYTES_CONTENT, *ret, size))
		return -EFAULT;
	*ret_size = size;
	return 0;
}

/* All that is read of it. */
static size_t head_size(const struct python_layout *layout)
{
	size_t last =
		MAX(MAX(layout->filename, layout->name), MAX(layout->qualname, layout->linetable));

	return MAX(last, layout->firstlineno) + 8;
}

static int read_parts(const struct python_memory *memory, const struct python_layout *layout,
		      const unsigned char *head, struct python_code *code)
{
	unsigned name = layout->qualname ? layout->qualname : layout->name;
	int r = python_text_read(memory, layout, word_at(head, name), &code->function);

	if (!r)
		r = python_text_read(memory, layout, word_at(head, layout->filename), &code->file);
	if (!r)
		r = read_bytes(memory, word_at(head, layout->linetable), &code->lines,
			       &code->lines_size);
	return r;
}

/* Another object may replace it during the reading, also with its parts at the same addresses: the
 * name is read first, and must still be the same afterwards. */
static bool is_same(const struct python_memory *memory, const struct python_layout *layout,
		    const unsigned char *head, const struct python_code *code)
{
	const unsigned name = layout->qualname ? layout->qualname : layout->name,
		       parts[] = { OBJECT_TYPE, layout->filename, name, layout->linetable };
	unsigned char again[PYTHON_CODE_BYTES];
	char *function = NULL;
	bool is_it;

	if (memory->read(memory->context, code->address, again, head_size(layout)) ||
	    !is_alive(again))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (word_at(again, parts[i]) != word_at(head, parts[i]))
			return false;
	is_it = half_at(again, layout->firstlineno) == code->first_line &&
		!python_text_read(memory, layout, word_at(again, name), &function) &&
		!strcmp(function, code->function);
	free(function);
	return is_it;
}

int python_code_read(const struct python_memory *memory, const struct python_layout *layout,
		     uint64_t type, uint64_t address, struct python_code *ret)
{
	unsigned char head[PYTHON_CODE_BYTES];
	struct python_code code = { .address = address };
	int r = memory->read(memory->context, address, head, head_size(layout));

	if (r || !is_alive(head) || (type && word_at(head, OBJECT_TYPE) != type))
		return -EFAULT;
	code.first_line = half_at(head, layout->firstlineno);
	if (code.first_line > INT32_MAX)
		return -EFAULT;
	r = read_parts(memory, layout, head, &code);
	if (!r && !is_same(memory, layout, head, &code))
		r = -EFAULT;
	if (r)
		python_code_done(&code);
	else
		*ret = code;
	return r;
}

void python_code_done(struct python_code *code)
{
	free(code->function);
	free(code->file);
	free(code->lines);
	*code = (struct python_code){ 0 };
}

bool python_code_equals(const struct python_code *code, const struct python_code *other)
{
	return code->first_line == other->first_line && code->lines_size == other->lines_size &&
	       !strcmp(code->function, other->function) && !strcmp(code->file, other->file) &&
	       !memcmp(code->lines, other->lines, code->lines_size);
}

unsigned python_code_line(const struct python_code *code, const struct python_layout *layout,
			  uint64_t at)
{
	int64_t offset = layout->unit ? (int64_t)(int32_t)at * layout->unit
				      : (int64_t)(at - code->address - layout->instructions);
	unsigned line =
		python_line(layout->lines, code->lines, code->lines_size, code->first_line, offset);

	return line ? line : code->first_line;
}
