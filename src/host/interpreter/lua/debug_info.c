/*
 * Reads what Lua keeps of a function for errors: its chunk, by which it is named as in Lua's own
 * tracebacks (values have no names), and its lines, one for each instruction, as a number, or (5.4)
 * as the distance from the line before, with known lines here and there.  All numbers are foreign,
 * and bounded before they are used.
 */
#include "host/interpreter/lua/lua.h"

#include "host/core/text/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_HEAD        24u /* its letters follow it */
#define TEXT_KIND        4u
#define TEXT_SHOWN       32u /* bytes of a chunk that is a text */
#define INSTRUCTIONS_MAX (1u << 20)
#define KNOWN_BYTES      8u /* an instruction, and its line */
#define LINE_IS_KNOWN    (-128)

/* "@path" and "=name" are shown without the mark, else it is the text itself, of which the
 * beginning is shown. */
static int make_file(char *chunk, char **ret)
{
	size_t length = strlen(chunk);

	if (*chunk == '@' || *chunk == '=')
		return asprintf(ret, "%s", chunk + 1) < 0 ? -ENOMEM : 0;
	if (length > TEXT_SHOWN)
		length = TEXT_SHOWN;
	while (length && (chunk[length] & 0xc0) == 0x80) /* in a letter */
		length--;
	chunk[length] = '\0';
	return asprintf(ret, "[string \"%s\"]", chunk) < 0 ? -ENOMEM : 0;
}

int lua_chunk_read(const struct target_memory *memory, uint64_t text, unsigned kind_at,
		   unsigned kind_mask, struct function *function)
{
	unsigned char head[TEXT_HEAD];
	char *chunk = NULL;
	int r, length;

	if (text & 7 || target_read(memory, text, head, sizeof(head)) ||
	    (head[kind_at] & kind_mask) != TEXT_KIND)
		return -EFAULT;
	r = target_string(memory, text + TEXT_HEAD, &chunk);
	if (!r)
		r = make_file(chunk, &function->file);
	free(chunk);
	if (r)
		return r;
	if (function->first_line)
		length = asprintf(&function->name, "function <%s:%u>",
				  path_base_name(function->file), function->first_line);
	else
		length = asprintf(&function->name, "<main>");
	return length < 0 ? -ENOMEM : 0;
}

/* The items of an array, the caller's to free. */
static int read_array(const struct target_memory *memory, const unsigned char *prototype,
		      struct lua_array array, size_t size, unsigned char **ret, size_t *ret_count)
{
	*ret_count = half_in(prototype, array.count);
	if (*ret_count > INSTRUCTIONS_MAX)
		return -EFAULT;
	return target_bytes(memory, word_in(prototype, array.items), *ret_count * size, ret);
}

static void add_line(struct function *function, size_t at, uint32_t line)
{
	line = MIN(line, INT32_MAX);
	if (function->line_count && function->lines[function->line_count - 1].line == line)
		return;
	function->lines[function->line_count++] = (struct function_line){ (uint32_t)at, line };
}

/* A distance that is none leads to the table of known lines. */
static void add_distances(struct function *function, const unsigned char *lines, size_t count,
			  const unsigned char *known, size_t known_count)
{
	uint32_t line = function->first_line;
	size_t next = 0;

	for (size_t i = 0; i < count; i++) {
		signed char distance = (signed char)lines[i];

		if (distance != LINE_IS_KNOWN) {
			line += (uint32_t)distance;
		} else {
			while (next < known_count && half_in(known, next * KNOWN_BYTES) < i)
				next++;
			line = next < known_count ? half_in(known, next * KNOWN_BYTES + 4) : 0;
		}
		add_line(function, i, line);
	}
}

int lua_lines_read(const struct target_memory *memory, const struct lua_layout *layout,
		   const unsigned char *prototype, struct function *function)
{
	bool is_by_distance = layout->known_lines.count;
	unsigned char *lines = NULL, *known = NULL;
	size_t count, known_count = 0;
	int r = read_array(memory, prototype, layout->lines, is_by_distance ? 1 : sizeof(uint32_t),
			   &lines, &count);

	if (!r && is_by_distance)
		r = read_array(memory, prototype, layout->known_lines, KNOWN_BYTES, &known,
			       &known_count);
	if (!r)
		function->lines = calloc(count + 1, sizeof(*function->lines));
	if (!r && !function->lines)
		r = -ENOMEM;
	if (!r && is_by_distance)
		add_distances(function, lines, count, known, known_count);
	for (size_t i = 0; !r && !is_by_distance && i < count; i++)
		add_line(function, i, half_in(lines, i * sizeof(uint32_t)));
	free(lines);
	free(known);
	return r;
}
