/*
 * Functions of interpreted languages.
 */
#include "host/interpreter/kind.h"

#include "host/core/sorted.h"

#include <stdlib.h>

static uint64_t line_begins_at(const void *lines, size_t index)
{
	return ((const struct function_line *)lines)[index].at;
}

unsigned function_line_at(const struct function *function, uint64_t at)
{
	size_t count = count_up_to(function->lines, function->line_count, at, line_begins_at);

	return count ? function->lines[count - 1].line : 0;
}

bool function_equals(const struct function *function, const struct function *other)
{
	return function->name && other->name && !strcmp(function->name, other->name) &&
	       !strcmp(function->file, other->file) && function->code == other->code &&
	       function->is_native == other->is_native &&
	       function->first_line == other->first_line &&
	       function->line_count == other->line_count &&
	       function->table_size == other->table_size &&
	       (!function->line_count || !memcmp(function->lines, other->lines,
						 function->line_count * sizeof(*other->lines))) &&
	       (!function->table_size ||
		!memcmp(function->table, other->table, function->table_size));
}

void function_done(struct function *function)
{
	free(function->name);
	free(function->file);
	free(function->lines);
	free(function->table);
	*function = (struct function){ 0 };
}

int function_hand_over(struct function *function, int r, struct function *ret)
{
	if (r)
		function_done(function);
	else
		*ret = *function;
	return r;
}
