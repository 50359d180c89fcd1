/*
 * Functions of interpreted languages.
 */
#include "host/interpreter/kind.h"

#include <stdlib.h>

unsigned function_line_at(const struct function *function, uint64_t at)
{
	size_t low = 0, high = function->line_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (function->lines[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? function->lines[low - 1].line : 0;
}

void function_done(struct function *function)
{
	free(function->name);
	free(function->file);
	free(function->lines);
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
