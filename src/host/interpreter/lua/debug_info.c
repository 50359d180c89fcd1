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

#define TEXT_SHOWN       32u /* bytes of a chunk that is a text */
#define INSTRUCTIONS_MAX (1u << 20)
#define KNOWN_BYTES      8u /* an instruction, and its line */
#define LINE_IS_KNOWN    (-128)

/* "@path" and "=name" are shown without the mark, else it is the text itself, of which the
 * beginning is shown. */
static int take_file(char *chunk, char **ret)
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

static int make_name(const struct function *function, char **ret)
{
	if (!function->first_line)
		return asprintf(ret, "<main>") < 0 ? -ENOMEM : 0;
	return asprintf(ret, "function <%s:%u>", path_base_name(function->file),
			function->first_line) < 0
		       ? -ENOMEM
		       : 0;
}

int lua_chunk_read(const struct target_memory *memory, uint64_t name, struct function *function)
{
	char *chunk = NULL;
	int r = target_string(memory, name, &chunk);

	if (!r)
		r = take_file(chunk, &function->file);
	if (!r)
		r = make_name(function, &function->name);
	free(chunk);
	return r;
}

/* The contents of an array; NULL: it cannot be read, or there is no memory. */
static unsigned char *read_array(const struct target_memory *memory, const unsigned char *prototype,
				 struct lua_array array, size_t size, size_t *ret_count)
{
	size_t count = half_in(prototype, array.count);
	unsigned char *items = count <= INSTRUCTIONS_MAX ? malloc(count * size + 1) : NULL;

	if (items && count &&
	    target_read(memory, word_in(prototype, array.items), items, count * size)) {
		free(items);
		items = NULL;
	}
	*ret_count = count;
	return items;
}

static void add_line(struct function *function, size_t at, uint32_t line)
{
	line = MIN(line, INT32_MAX);
	if (function->line_count && function->lines[function->line_count - 1].line == line)
		return;
	function->lines[function->line_count++] = (struct function_line){ (uint32_t)at, line };
}

static void add_lines(struct function *function, const unsigned char *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_line(function, i, half_in(lines, i * sizeof(uint32_t)));
}

/* The line of an instruction that is in the table of known ones; `next` is the first that was not
 * used. */
static uint32_t known_line(const unsigned char *known, size_t known_count, size_t at, size_t *next)
{
	while (*next < known_count && half_in(known, *next * KNOWN_BYTES) < at)
		++*next;
	return *next < known_count ? half_in(known, *next * KNOWN_BYTES + 4) : 0;
}

static void add_distances(struct function *function, const unsigned char *lines, size_t count,
			  const unsigned char *known, size_t known_count)
{
	uint32_t line = function->first_line;
	size_t next = 0;

	for (size_t i = 0; i < count; i++) {
		signed char distance = (signed char)lines[i];

		if (distance == LINE_IS_KNOWN)
			line = known_line(known, known_count, i, &next);
		else
			line += (uint32_t)distance;
		add_line(function, i, line);
	}
}

int lua_lines_read(const struct target_memory *memory, const struct lua_layout *layout,
		   const unsigned char *prototype, struct function *function)
{
	bool is_by_distance = layout->known_lines.count;
	size_t count, known_count = 0;
	unsigned char *lines = read_array(memory, prototype, layout->lines,
					  is_by_distance ? 1 : sizeof(uint32_t), &count);
	unsigned char *known = is_by_distance ? read_array(memory, prototype, layout->known_lines,
							   KNOWN_BYTES, &known_count)
					      : NULL;
	int r = lines && (known || !is_by_distance) ? 0 : -EFAULT;

	function->lines = calloc(r ? 1 : count + 1, sizeof(*function->lines));
	if (!r && !function->lines)
		r = -ENOMEM;
	if (!r && is_by_distance)
		add_distances(function, lines, count, known, known_count);
	else if (!r)
		add_lines(function, lines, count);
	free(lines);
	free(known);
	return r;
}
