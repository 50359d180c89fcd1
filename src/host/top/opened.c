/*
 * Which function is opened, and which of its neighbours is chosen.
 */
#include "host/top/opened.h"

#include <stdio.h>
#include <string.h>

/* Names that are too long are compared as far as they are kept. */
bool function_id_is(const struct function_id *id, const char *name, const char *module)
{
	return !strncmp(id->name, name, sizeof(id->name) - 1) &&
	       !strncmp(id->module, module, sizeof(id->module) - 1);
}

void function_id_set(struct function_id *id, const char *name, const char *module)
{
	snprintf(id->name, sizeof(id->name), "%s", name);
	snprintf(id->module, sizeof(id->module), "%s", module);
}

const char *opened_name(const struct opened *opened)
{
	return opened->depth ? opened->path[opened->depth - 1].name : "";
}

const char *opened_module(const struct opened *opened)
{
	return opened->depth ? opened->path[opened->depth - 1].module : "";
}

/* The oldest is forgotten where there are too many. */
void opened_push(struct opened *opened, const char *name, const char *module)
{
	if (opened->depth == OPENED_DEPTH)
		memmove(&opened->path[0], &opened->path[1],
			--opened->depth * sizeof(opened->path[0]));
	function_id_set(&opened->path[opened->depth++], name, module);
	opened->cursor = 0;
}

const struct picture_neighbour *opened_row(const struct picture *picture, size_t row)
{
	const struct picture_opened *opened = &picture->opened;

	if (row < opened->caller_count)
		return &opened->callers[row];
	row -= opened->caller_count;
	return row < opened->callee_count ? &opened->callees[row] : NULL;
}

void opened_move(struct opened *opened, const struct picture *picture, long rows_down)
{
	size_t count = picture->opened.caller_count + picture->opened.callee_count;

	if (rows_down < 0)
		opened->cursor -= MIN(opened->cursor, (size_t)-rows_down);
	else
		opened->cursor += (size_t)rows_down;
	opened->cursor = MIN(opened->cursor, count ? count - 1 : 0);
}
