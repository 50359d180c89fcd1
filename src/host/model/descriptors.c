/*
 * Adds input and output up by descriptor.
 */
#include "host/model/descriptors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Words in the names of functions that put bytes into a descriptor; others take them out. */
static const char *const writing[] = { "write", "send", "put", "printf" };

static bool is_writing(const struct trace_function *function)
{
	for (size_t i = 0; i < ARRAY_SIZE(writing); i++)
		if (strstr(function->name, writing[i]))
			return true;
	return false;
}

static bool is_closing(const struct trace_function *function)
{
	return strcmp(function->name, "close") == 0 || strcmp(function->name, "fclose") == 0;
}

static uint64_t bytes_moved(const struct call *call)
{
	uint64_t size, result;

	if (!call_value(call, VALUE_SIZE, &size))
		return 0;
	if (!call_value(call, VALUE_RESULT, &result))
		return size;
	return (int64_t)result > 0 ? result : 0;
}

static int add_row(struct descriptors *self, const struct call *call, int descriptor)
{
	char *name = strdup(call->text);

	if (name && self->count == self->room) {
		uint32_t room = self->room ? self->room * 2 : 64;
		struct descriptor_row *longer = reallocarray(self->rows, room, sizeof(*longer));

		if (longer) {
			self->rows = longer;
			self->room = room;
		}
	}
	if (!name || self->count == self->room) {
		free(name);
		return -ENOMEM;
	}
	self->rows[self->count++] = (struct descriptor_row){ .process = call->process,
							     .descriptor = descriptor,
							     .name = name };
	return 0;
}

/* The row of this name, which is then the current one of its descriptor. */
static int name_row(struct descriptors *self, const struct call *call, uint64_t key,
		    uint32_t *ret_row)
{
	uint64_t hash = table_hash(call->text, strlen(call->text));
	bool is_new;
	struct table_entry *named = table_make(&self->by_name, key, hash, &is_new);
	struct table_entry *current;

	if (!named)
		return -ENOMEM;
	if (is_new) {
		named->value = self->count;
		if (add_row(self, call, (int)(uint32_t)key))
			return -ENOMEM;
	}
	*ret_row = (uint32_t)named->value;
	current = table_make(&self->current, key, 0, &is_new);
	if (!current)
		return -ENOMEM;
	current->value = *ret_row;
	return 0;
}

static int find_row(struct descriptors *self, const struct call *call, uint64_t key,
		    uint32_t *ret_row)
{
	const struct table_entry *current = table_find(&self->current, key, 0);

	if (!current || call->text[0])
		return name_row(self, call, key, ret_row);
	*ret_row = (uint32_t)current->value;
	return 0;
}

int descriptors_take(struct descriptors *self, const struct call *call)
{
	uint64_t descriptor, key;
	struct descriptor_row *row;
	struct table_entry *current;
	uint32_t index;

	if (call->function->domain != DOMAIN_IO ||
	    !call_value(call, VALUE_DESCRIPTOR, &descriptor) || (int32_t)descriptor < 0)
		return 0;
	key = (uint64_t)call->process->number << 32 | (uint32_t)descriptor;
	if (find_row(self, call, key, &index))
		return -ENOMEM;
	row = &self->rows[index];
	statistics_add(&row->statistics, call->end_ns - call->begin_ns);
	if (is_writing(call->function))
		row->written_bytes += bytes_moved(call);
	else
		row->read_bytes += bytes_moved(call);
	current = is_closing(call->function) ? table_find(&self->current, key, 0) : NULL;
	if (current)
		table_remove(&self->current, current);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct descriptor_row *a = left, *b = right;

	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	return a->descriptor - b->descriptor;
}

void descriptors_sort(struct descriptors *self)
{
	if (self->count)
		qsort(self->rows, self->count, sizeof(*self->rows), by_time);
}

void descriptors_done(struct descriptors *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		free(self->rows[i].name);
	free(self->rows);
	table_done(&self->by_name);
	table_done(&self->current);
}
