/*
 * Turns the kernel's records into those of a recording.
 */
#include "host/recorder/syscalls/syscall_writer.h"

#include "host/core/clock.h"
#include "host/process/threads.h"
#include "host/recording/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_NS   50000000u
#define VALUES_MAX 4u

int syscall_writer_new(struct syscall_writer **ret, struct programs *programs, struct err *err)
{
	struct syscall_writer *self = calloc(1, sizeof(*self));

	if (!self)
		return syscall_writer_no_memory(err);
	self->recording = programs->recording;
	self->programs = programs;
	for (uint32_t i = 0; i < SYSCALL_NUMBERS_MAX; i++)
		self->shapes[i] = syscall_shape(i);
	tick_clock_begin(&self->clock);
	*ret = self;
	return 0;
}

void syscall_writer_free(struct syscall_writer *self)
{
	if (!self)
		return;
	while (self->thread_count)
		writer_thread_remove(self, self->thread_count - 1);
	for (size_t i = 0; i < self->process_count; i++)
		writer_process_free(self->processes[i]);
	free(self->threads);
	free(self->processes);
	table_done(&self->thread_indexes);
	table_done(&self->process_indexes);
	free(self);
}

static void thread_drop(struct syscall_writer *self, struct writer_thread *thread,
			enum drop_reason reason, uint64_t count)
{
	thread->slot.drops.counts[reason] += count;
	thread->slot.has_unwritten_drops = true;
	if (!thread->slot.since_ns)
		thread->slot.since_ns = self->now_ns;
	self->totals.collected.drops[reason] += count;
}

/* Missing calls may have opened or closed files: what is known of descriptors is dropped. */
static void thread_note_dropped(struct syscall_writer *self, struct writer_process *process,
				struct writer_thread *thread, uint32_t dropped)
{
	if (dropped == thread->dropped)
		return;
	thread_drop(self, thread, DROP_FULL, dropped - thread->dropped);
	thread->dropped = dropped;
	syscall_files_closed(&process->files, -1);
}

static int thread_end(struct syscall_writer *self, const struct syscall_record *record,
		      struct err *err)
{
	struct writer_process *process = writer_process_known(self, (pid_t)record->pid);
	const struct table_entry *entry =
		table_find(&self->thread_indexes, record->tid, record->pid);
	struct writer_thread *thread;
	int r;

	if (!process || !entry)
		return 0;
	thread = self->threads[entry->value];
	thread_note_dropped(self, process, thread, record->dropped);
	r = slot_flush(&thread->slot, self->recording, err);
	if (!r && record->path_bytes == SYSCALL_THREAD_NAME)
		r = slot_rename(&thread->slot, self->recording, record->path, err);
	writer_thread_remove(self, (size_t)entry->value);
	return r;
}

static uint8_t shape_of(const struct syscall_writer *self, const struct syscall_record *record)
{
	return record->flags & SYSCALL_32_BIT || (uint32_t)record->number >= SYSCALL_NUMBERS_MAX
		       ? 0
		       : self->shapes[record->number];
}

static void function_describe(struct trace_function *ret, int32_t number, bool is_32_bit,
			      uint8_t shape)
{
	*ret = (struct trace_function){ .domain = DOMAIN_SYSCALL };
	syscall_name(number, is_32_bit, ret->name, sizeof(ret->name));
	if (shape & SYSCALL_DESCRIPTOR)
		ret->values[ret->value_count++] = VALUE_DESCRIPTOR;
	if (shape & (SYSCALL_DESCRIPTOR | SYSCALL_PATH_FIRST | SYSCALL_PATH_SECOND))
		ret->values[ret->value_count++] = VALUE_FILE;
	if (shape & SYSCALL_SIZE)
		ret->values[ret->value_count++] = VALUE_SIZE;
	if (!(shape & SYSCALL_NO_RESULT))
		ret->values[ret->value_count++] = VALUE_RESULT;
}

static int function_find(struct syscall_writer *self, struct writer_process *process,
			 const struct syscall_record *record, uint32_t *ret, struct err *err)
{
	/* All numbers beyond the limit share one function: a program can make up any number. */
	uint32_t index = MIN((uint32_t)record->number, (uint32_t)SYSCALL_NUMBERS_MAX);
	bool is_32_bit = record->flags & SYSCALL_32_BIT;
	uint32_t *known = &process->functions[is_32_bit ? index + SYSCALL_NUMBERS_MAX + 1 : index];
	struct list_head which = { .process = process->number, .count = 1 };
	struct trace_function function;
	int r;

	if (!*known) {
		function_describe(&function, index < SYSCALL_NUMBERS_MAX ? record->number : -1,
				  is_32_bit, shape_of(self, record));
		r = recording_functions(self->recording, &which, &function, err);
		if (r)
			return r;
		*known = which.first + 1;
		self->totals.collected.functions++;
	}
	*ret = *known - 1;
	return 0;
}

static int put_record(struct syscall_writer *self, struct writer_thread *thread,
		      const struct record *record, struct err *err)
{
	if (!slot_take(&thread->slot, record, self->now_ns))
		return syscall_writer_no_memory(err);
	self->totals.collected.records++;
	self->totals.collected.record_bytes += record->size;
	return slot_is_full(&thread->slot) ? slot_flush(&thread->slot, self->recording, err) : 0;
}

static int put_file(struct syscall_writer *self, struct writer_thread *thread,
		    const struct syscall_file *file, struct err *err)
{
	struct {
		struct record_name name;
		char text[SYSCALL_FILE_NAME_MAX];
	} record = {
		.name = { .head = { .kind = RECORD_NAME }, .space = NAME_FILE, .id = file->number }
	};
	size_t length = strlen(file->name);

	if (!file->is_new)
		return 0;
	memcpy(record.text, file->name, length);
	record.name.bytes = (uint16_t)length;
	record.name.head.size = (uint16_t)ALIGN_UP(sizeof(record.name) + length, RECORD_ALIGNMENT);
	return put_record(self, thread, &record.name.head, err);
}

/* The file of a call: its path, or, where that is empty, what its descriptor refers to. */
static int find_file(struct writer_process *process, const struct syscall_record *record,
		     uint8_t shape, struct syscall_file *ret)
{
	const char *path = shape & SYSCALL_EXECUTES ? process->executing
			   : record->path_bytes     ? record->path
						    : "";

	ret->number = 0;
	ret->is_new = false;
	if (path[0])
		return syscall_files_name(&process->files, path, ret);
	if (record->descriptor < 0 || record->result == -EBADF)
		return 0;
	return syscall_files_find(&process->files, record->descriptor, ret);
}

/* Updates what descriptors refer to after a call. */
static int follow_files(struct writer_process *process, const struct syscall_record *record,
			uint8_t shape, uint64_t file)
{
	const uint8_t by_path = SYSCALL_PATH_FIRST | SYSCALL_PATH_SECOND;

	if (shape & SYSCALL_CLOSES)
		syscall_files_closed(&process->files, record->descriptor);
	if (!(shape & SYSCALL_NEW_DESCRIPTOR) || record->result < 0 || record->result > INT32_MAX)
		return 0;
	return syscall_files_opened(&process->files, (int32_t)record->result,
				    shape & by_path ? file : 0);
}

static int put_call(struct syscall_writer *self, struct writer_thread *thread,
		    const struct syscall_record *record, uint8_t shape, uint32_t function,
		    uint64_t file, struct err *err)
{
	struct {
		struct record_call call;
		uint64_t values[VALUES_MAX];
	} made = { .call = { .head.kind = RECORD_CALL, .function = function } };
	uint64_t begin = tick_clock_ticks(&self->clock, record->begin_ns),
		 end = tick_clock_ticks(&self->clock, record->end_ns), *value = made.values;

	/* Rounded times must not let a call begin before the previous one has ended. */
	made.call.begin = MAX(begin, thread->last_end);
	made.call.end = thread->last_end = MAX(end, made.call.begin);
	if (shape & SYSCALL_DESCRIPTOR)
		*value++ = (uint64_t)(int64_t)record->descriptor;
	if (shape & (SYSCALL_DESCRIPTOR | SYSCALL_PATH_FIRST | SYSCALL_PATH_SECOND))
		*value++ = file;
	if (shape & SYSCALL_SIZE)
		*value++ = record->size;
	if (!(shape & SYSCALL_NO_RESULT))
		*value++ = (uint64_t)record->result;
	made.call.head.count = (uint8_t)(value - made.values);
	made.call.head.size = (uint16_t)record_call_size(made.call.head.count);
	return put_record(self, thread, &made.call.head, err);
}

static int add_call(struct syscall_writer *self, const struct syscall_record *record,
		    struct err *err)
{
	uint8_t shape = shape_of(self, record);
	struct writer_process *process;
	struct writer_thread *thread;
	struct syscall_file file;
	uint32_t function;
	int r = writer_process_find(self, (pid_t)record->pid, &process, err);

	if (!r)
		r = writer_thread_find(self, process, (pid_t)record->tid, &thread, err);
	if (!r)
		r = function_find(self, process, record, &function, err);
	if (r)
		return r;
	thread->is_seen = true;
	thread_note_dropped(self, process, thread, record->dropped);
	if (find_file(process, record, shape, &file) ||
	    follow_files(process, record, shape, file.number))
		return syscall_writer_no_memory(err);
	r = put_file(self, thread, &file, err);
	return r ? r : put_call(self, thread, record, shape, function, file.number, err);
}

static int note_executing(struct syscall_writer *self, const struct syscall_record *record,
			  struct err *err)
{
	struct writer_process *process;
	int r = writer_process_find(self, (pid_t)record->pid, &process, err);

	if (!r)
		memcpy(process->executing, record->path_bytes ? record->path : "",
		       MAX(record->path_bytes, 1));
	return r;
}

/* The path of an exec belongs to the call record that follows when exec returns. */
static int begin_executed(struct syscall_writer *self, const struct syscall_record *record,
			  struct err *err)
{
	struct writer_process *process = writer_process_known(self, (pid_t)record->pid);
	char executing[SYSCALL_PATH_MAX] = "";
	int r;

	if (process)
		memcpy(executing, process->executing, sizeof(executing));
	r = writer_process_begin(self, (pid_t)record->pid, err);
	process = writer_process_known(self, (pid_t)record->pid);
	if (!r && process)
		memcpy(process->executing, executing, sizeof(executing));
	return r;
}

int syscall_writer_add(struct syscall_writer *self, const struct syscall_record *record,
		       struct err *err)
{
	pid_t pid = (pid_t)record->pid;

	switch (record->kind) {
	case SYSCALL_RETURNED:
		return add_call(self, record, err);
	case SYSCALL_BEGAN_BEFORE:
		return syscall_writer_cut(self, pid, 0, 1, err);
	case SYSCALL_EXECUTING:
		return note_executing(self, record, err);
	case SYSCALL_FORKED:
		return writer_process_begin(self, pid, err);
	case SYSCALL_EXECUTED:
		return begin_executed(self, record, err);
	case SYSCALL_THREAD_ENDED:
		return thread_end(self, record, err);
	default: /* SYSCALL_ENDED */
		return writer_process_end(self, pid, err);
	}
}

int syscall_writer_cut(struct syscall_writer *self, pid_t pid, uint64_t under_way,
		       uint64_t began_before, struct err *err)
{
	struct writer_process *process;
	int r = under_way || began_before ? writer_process_find(self, pid, &process, err) : 0;

	if (r || (!under_way && !began_before))
		return r;
	process->cut.under_way += under_way;
	process->cut.began_before += began_before;
	self->totals.under_way += under_way;
	self->totals.began_before += began_before;
	return 0;
}

int syscall_writer_drop(struct syscall_writer *self, pid_t pid, enum drop_reason reason,
			uint64_t count, struct err *err)
{
	struct writer_process *process;
	struct writer_thread *thread;
	int r = count ? writer_process_find(self, pid, &process, err) : 0;

	if (!count || r)
		return r;
	r = writer_thread_find(self, process, pid, &thread, err);
	if (!r)
		thread_drop(self, thread, reason, count);
	return r;
}

void syscall_writer_begin(struct syscall_writer *self)
{
	self->now_ns = now_ns();
	tick_clock_update(&self->clock);
	for (size_t i = self->thread_count; i-- > 0;)
		self->threads[i]->dropped = 0;
	for (size_t i = self->process_count; i-- > 0;)
		writer_process_renew(self, self->processes[i]);
}

int syscall_writer_flush(struct syscall_writer *self, bool everything, struct err *err)
{
	int r = 0;

	self->now_ns = now_ns();
	if (self->now_ns - self->clock.latest.monotonic_ns >= CLOCK_NS)
		tick_clock_update(&self->clock);
	for (size_t i = 0; !r && i < self->thread_count; i++)
		if (everything || slot_is_due(&self->threads[i]->slot, self->now_ns))
			r = slot_flush(&self->threads[i]->slot, self->recording, err);
	for (size_t i = 0; !r && everything && i < self->process_count; i++)
		r = writer_process_write_cut(self, self->processes[i], err);
	return r;
}

int syscall_writer_refresh(struct syscall_writer *self, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->thread_count; i++) {
		struct writer_thread *thread = self->threads[i];
		char name[16] = "";

		if (!thread->is_seen)
			continue;
		thread->is_seen = false;
		thread_read_name(thread->pid, thread->slot.thread.tid, name, sizeof(name));
		if (name[0])
			r = slot_rename(&thread->slot, self->recording, name, err);
	}
	return r;
}
