/*
 * Names functions as Lua's own tracebacks do: values have no names, so a function is named by its
 * first line.
 */
#include "host/interpreter/lua/chunk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_SHOWN 32u /* bytes of a chunk that is a text */

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
	const char *slash = strrchr(function->file, '/');
	const char *base = slash ? slash + 1 : function->file;

	if (!function->first_line)
		return asprintf(ret, "<main>") < 0 ? -ENOMEM : 0;
	return asprintf(ret, "function <%s:%u>", base, function->first_line) < 0 ? -ENOMEM : 0;
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
