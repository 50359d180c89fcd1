/*
 * Adds input and output up by descriptor.
 */
#include "host/model/calls/descriptors.h"

#include "shared/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_word(const struct trace_function *function, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(function->name, words[i]))
			return true;
	return false;
}

bool descriptors_is_writing(const struct trace_function *function)
{
	static const char *const words[] = { "write", "send", "put", "printf" };

	return has_word(function, words, ARRAY_SIZE(words));
}

/* Functions that return bytes without a size argument. */
static bool is_moving(const struct trace_function *function)
{
	static const char *const words[] = { "readv",   "writev",   "msg",  "sendfile",
					     "getline", "getdelim", "puts", "printf" };

	return has_word(function, words, ARRAY_SIZE(words));
}

bool descriptors_bytes(const struct call *call, uint64_t *ret)
{
	uint64_t size = INT64_MAX, result = 0;
	bool has_size = call_value(call, VALUE_SIZE, &size);

	if (!call_value(call, VALUE_RESULT, &result) || (!has_size && !is_moving(call->function)))
		return false;
	*ret = (int64_t)result > 0 && result <= size ? result : 0;
	return true;
}

static uint64_t key_of(const struct model_process *process, int32_t descriptor)
{
	return (uint64_t)process->number << 32 | (uint32_t)descriptor;
}

/* The row of a name, which is then the current one of its descriptor. */
static int name_row(struct descriptors *self, const struct model_process *process,
		    int32_t descriptor, const char *name)
{
	uint64_t key = key_of(process, descriptor);
	struct descriptor_row *row =
		row_find(&self->by_name, (struct row_key){ key, hash_bytes(name, strlen(name)) },
			 &self->rows, &self->count, sizeof(*row));
	bool is_new;
	struct table_entry *current = row ? table_make(&self->current, key, 0, &is_new) : NULL;

	if (!current)
		return -ENOMEM;
	if (!row->name) {
		row->process = process;
		row->descriptor = descriptor;
		row->name = strdup(name);
	}
	current->value = (uint64_t)(row - self->rows);
	return row->name ? 0 : -ENOMEM;
}

int descriptors_init(struct descriptors *ret, const struct model *model)
{
	*ret = (struct descriptors){ 0 };
	for (uint32_t i = 0; i < model->process_count; i++) {
		const struct model_process *process = model->processes[i];

		for (uint32_t file = 0; file < process->file_count; file++)
			if (name_row(ret, process, process->files[file].descriptor,
				     process->files[file].name))
				return -ENOMEM;
	}
	return 0;
}

/* The descriptor that a call is about, -1: none.  A stream is remembered with its own. */
static int32_t call_descriptor(struct descriptors *self, const struct call *call)
{
	uint64_t descriptor, object, result;
	bool has_object = call_value(call, VALUE_OBJECT, &object), is_new;
	struct table_entry *stream;

	if (call_value(call, VALUE_DESCRIPTOR, &descriptor)) {
		stream = has_object && object ? table_make(&self->streams, object,
							   call->process->number, &is_new)
					      : NULL;
		if (stream)
			stream->value = descriptor;
		return (int32_t)descriptor;
	}
	if (has_object) {
		stream = table_find(&self->streams, object, call->process->number);
		return stream ? (int32_t)stream->value : -1;
	}
	return call_value(call, VALUE_RESULT, &result) ? (int32_t)result : -1;
}

/* A call may name its descriptor, or the one that it makes. */
static int learn_name(struct descriptors *self, const struct call *call, int32_t descriptor)
{
	bool is_accepting = strncmp(call->function->name, "accept", strlen("accept")) == 0;
	uint64_t result;

	if (is_accepting && call_value(call, VALUE_RESULT, &result)) {
		if ((int32_t)result >= 0 &&
		    name_row(self, call->process, (int32_t)result, call->text))
			return -ENOMEM;
	} else if (call->text[0]) {
		return name_row(self, call->process, descriptor, call->text);
	}
	if (table_find(&self->current, key_of(call->process, descriptor), 0))
		return 0;
	return name_row(self, call->process, descriptor, "");
}

int descriptors_add(struct descriptors *self, const struct call *call)
{
	const char *name = call->function->name;
	struct table_entry *current;
	struct descriptor_row *row;
	int32_t descriptor;
	uint64_t bytes = 0;

	if (call->function->domain != DOMAIN_IO)
		return 0;
	descriptor = call_descriptor(self, call);
	if (descriptor < 0)
		return 0;
	if (learn_name(self, call, descriptor))
		return -ENOMEM;
	current = table_find(&self->current, key_of(call->process, descriptor), 0);
	if (!current)
		return 0;
	row = &self->rows[current->value];
	statistics_add(&row->statistics, call->end_ns - call->begin_ns);
	(void)!descriptors_bytes(call, &bytes);
	*(descriptors_is_writing(call->function) ? &row->written_bytes : &row->read_bytes) += bytes;
	if (strcmp(name, "close") == 0 || strcmp(name, "fclose") == 0)
		table_remove(&self->current, current);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct descriptor_row *a = left, *b = right;
	int order = statistics_by_time(&a->statistics, &b->statistics);

	return order ? order : a->descriptor - b->descriptor;
}

/* Drops files that were open but not used. */
void descriptors_sort(struct descriptors *self)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < self->count; i++)
		if (self->rows[i].statistics.calls)
			self->rows[kept++] = self->rows[i];
		else
			free(self->rows[i].name);
	self->count = kept;
	rows_sort(self->rows, kept, sizeof(*self->rows), by_time);
}

void descriptors_done(struct descriptors *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		free(self->rows[i].name);
	free(self->rows);
	table_done(&self->by_name.numbers);
	table_done(&self->current);
	table_done(&self->streams);
}
