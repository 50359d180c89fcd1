/*
 * Adds system calls up by error and by file.
 */
#include "host/model/calls/syscalls.h"

#include "host/core/room.h"
#include "host/model/calls/descriptors.h"
#include "shared/base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_MAX 4095

/* The kernel's internal errors, which a program never sees: after a signal, the call is restarted
 * or fails with EINTR. */
static const struct {
	int error;
	const char *name;
} kernel_errors[] = {
	{ 512, "ERESTARTSYS" },
	{ 513, "ERESTARTNOINTR" },
	{ 514, "ERESTARTNOHAND" },
	{ 516, "ERESTART_RESTARTBLOCK" },
};

const char *syscall_error_name(int error, char buffer[32])
{
	const char *name = strerrorname_np(error);

	for (size_t i = 0; i < ARRAY_SIZE(kernel_errors); i++)
		if (kernel_errors[i].error == error)
			return kernel_errors[i].name;
	if (name)
		return name;
	snprintf(buffer, 32, "error %d", error);
	return buffer;
}

int syscall_error(const struct call *call)
{
	uint64_t result = 0;
	int64_t value;

	if (call->function->domain != DOMAIN_SYSCALL || !call_value(call, VALUE_RESULT, &result))
		return 0;
	value = (int64_t)result;
	return value < 0 && value >= -ERROR_MAX ? (int)-value : 0;
}

int syscalls_init(struct syscalls *ret, const struct model *model)
{
	*ret = (struct syscalls){ 0 };
	ret->thread_errors = calloc(MAX(model->thread_count, 1u), sizeof(*ret->thread_errors));
	return ret->thread_errors ? 0 : -ENOMEM;
}

static uint64_t name_hash(const char *name)
{
	return hash_bytes(name, strlen(name));
}

static int count_error(struct syscalls *self, const struct call *call, int error)
{
	bool is_new;
	struct table_entry *entry = table_make(&self->by_error, name_hash(call->function->name),
					       (uint64_t)error, &is_new);

	struct table_entry *all;

	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->error_count;
		if (make_room(&self->errors, self->error_count, &self->error_room,
			      sizeof(*self->errors)))
			return -ENOMEM;
		self->errors[self->error_count++] =
			(struct syscall_error_row){ call->function, error, 0 };
	}
	self->errors[entry->value].calls++;
	self->thread_errors[call->thread->number]++;
	all = table_make(&self->by_name, name_hash(call->function->name), 0, &is_new);
	if (!all)
		return -ENOMEM;
	all->value++;
	return 0;
}

/* Some return a number of messages instead. */
static uint64_t bytes_moved(const struct call *call)
{
	uint64_t bytes = 0;

	return !strstr(call->function->name, "mmsg") && descriptors_bytes(call, &bytes) ? bytes : 0;
}

static int count_file(struct syscalls *self, const struct call *call, uint64_t file, int error)
{
	const char *name = names_find(&call->process->names, NAME_FILE, file);
	uint64_t duration_ns = call->end_ns - call->begin_ns;
	struct syscall_file_row *row;
	struct table_entry *entry;
	bool is_new;

	entry = table_make(&self->by_file, name_hash(name), 0, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->file_count;
		if (make_room(&self->files, self->file_count, &self->file_room,
			      sizeof(*self->files)))
			return -ENOMEM;
		self->files[self->file_count++] = (struct syscall_file_row){ .name = name };
	}
	row = &self->files[entry->value];
	statistics_add(&row->statistics, duration_ns);
	self->files_ns += duration_ns;
	row->errors += error != 0;
	*(descriptors_is_writing(call->function) ? &row->written_bytes : &row->read_bytes) +=
		bytes_moved(call);
	return 0;
}

int syscalls_add(struct syscalls *self, const struct call *call)
{
	int error = syscall_error(call);
	uint64_t file;

	if (call->function->domain != DOMAIN_SYSCALL)
		return 0;
	self->has_calls = true;
	if (error && count_error(self, call, error))
		return -ENOMEM;
	return call_value(call, VALUE_FILE, &file) ? count_file(self, call, file, error) : 0;
}

static int errors_by_calls(const void *left, const void *right)
{
	const struct syscall_error_row *a = left, *b = right;
	int order = strcmp(a->function->name, b->function->name);

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return order ? order : a->error - b->error;
}

static int files_by_time(const void *left, const void *right)
{
	const struct syscall_file_row *a = left, *b = right;

	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

void syscalls_sort(struct syscalls *self)
{
	if (self->error_count)
		qsort(self->errors, self->error_count, sizeof(*self->errors), errors_by_calls);
	if (self->file_count)
		qsort(self->files, self->file_count, sizeof(*self->files), files_by_time);
}

uint64_t syscalls_errors_of(const struct syscalls *self, const char *name)
{
	const struct table_entry *entry = table_find(&self->by_name, name_hash(name), 0);

	return entry ? entry->value : 0;
}

void syscalls_done(struct syscalls *self)
{
	free(self->errors);
	free(self->files);
	free(self->thread_errors);
	table_done(&self->by_error);
	table_done(&self->by_name);
	table_done(&self->by_file);
}
