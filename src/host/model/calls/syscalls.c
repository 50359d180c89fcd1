/*
 * Adds system calls up by error and by file.
 */
#include "host/model/calls/syscalls.h"

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
	uint64_t hash = name_hash(call->function->name);
	struct syscall_error_row *row =
		row_find(&self->by_error, (struct row_key){ hash, (uint64_t)error }, &self->errors,
			 &self->error_count, sizeof(*row));
	bool is_new;
	struct table_entry *all = row ? table_make(&self->by_name, hash, 0, &is_new) : NULL;

	if (!all)
		return -ENOMEM;
	if (!row->function)
		row->function = call->function;
	row->error = error;
	row->calls++;
	self->thread_errors[call->thread->number]++;
	all->value++;
	return 0;
}

static int count_file(struct syscalls *self, const struct call *call, uint64_t file, bool is_error)
{
	const char *name = names_find(&call->process->names, NAME_FILE, file);
	uint64_t duration_ns = call->end_ns - call->begin_ns, bytes = 0;
	struct syscall_file_row *row =
		row_find(&self->by_file, (struct row_key){ name_hash(name), 0 }, &self->files,
			 &self->file_count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	if (!row->name)
		row->name = name;
	statistics_add(&row->statistics, duration_ns);
	self->files_ns += duration_ns;
	row->errors += is_error;
	/* Calls of several messages return their number instead. */
	if (!strstr(call->function->name, "mmsg"))
		(void)!descriptors_bytes(call, &bytes);
	*(descriptors_is_writing(call->function) ? &row->written_bytes : &row->read_bytes) += bytes;
	return 0;
}

int syscalls_add(struct syscalls *self, const struct call *call)
{
	int64_t result;
	uint64_t file;
	bool is_error;

	if (call->function->domain != DOMAIN_SYSCALL)
		return 0;
	self->has_calls = true;
	result = (int64_t)call_number(call, VALUE_RESULT);
	is_error = result < 0 && result >= -ERROR_MAX;
	if (is_error && count_error(self, call, (int)-result))
		return -ENOMEM;
	return call_value(call, VALUE_FILE, &file) ? count_file(self, call, file, is_error) : 0;
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
	int order = statistics_by_time(&a->statistics, &b->statistics);

	return order ? order : strcmp(a->name, b->name);
}

void syscalls_sort(struct syscalls *self)
{
	rows_sort(self->errors, self->error_count, sizeof(*self->errors), errors_by_calls);
	rows_sort(self->files, self->file_count, sizeof(*self->files), files_by_time);
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
	table_done(&self->by_error.numbers);
	table_done(&self->by_name);
	table_done(&self->by_file.numbers);
}
