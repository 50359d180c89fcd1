/*
 * Processes and threads whose system calls are written: found by their numbers, begun in the
 * recording at first use, and removed when they end.
 */
#include "host/recorder/syscalls/syscall_writer.h"

#include "host/core/room.h"
#include "host/process/threads.h"

#include <errno.h>
#include <stdlib.h>

int syscall_writer_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "system calls: no memory");
}

void writer_thread_remove(struct syscall_writer *self, size_t index)
{
	struct writer_thread *thread = self->threads[index],
			     *last = self->threads[--self->thread_count];
	struct table_entry *entry = table_find(
		&self->thread_indexes, (uint64_t)thread->slot.thread.tid, (uint64_t)thread->pid);

	if (entry)
		table_remove(&self->thread_indexes, entry);
	entry = last == thread ? NULL
			       : table_find(&self->thread_indexes, (uint64_t)last->slot.thread.tid,
					    (uint64_t)last->pid);
	if (entry)
		entry->value = index;
	self->threads[index] = last;
	slot_end(&thread->slot);
	free(thread);
}

void writer_process_free(struct writer_process *process)
{
	syscall_files_done(&process->files);
	free(process);
}

static struct writer_process *process_add(struct syscall_writer *self, pid_t pid, uint32_t number)
{
	struct writer_process *process = calloc(1, sizeof(*process));
	struct table_entry *entry = NULL;
	bool is_new;

	if (process && !make_room(&self->processes, self->process_count, &self->process_room,
				  sizeof(struct writer_process *)))
		entry = table_make(&self->process_indexes, (uint64_t)pid, 0, &is_new);
	if (!entry) {
		free(process);
		return NULL;
	}
	process->pid = process->files.pid = pid;
	process->number = process->cut.process = number;
	entry->value = self->process_count;
	self->processes[self->process_count++] = process;
	self->totals.processes++;
	return process;
}

struct writer_process *writer_process_known(const struct syscall_writer *self, pid_t pid)
{
	const struct table_entry *entry = table_find(&self->process_indexes, (uint64_t)pid, 0);

	return entry ? self->processes[entry->value] : NULL;
}

/* A process that the recording began with may have ended by now. */
int writer_process_find(struct syscall_writer *self, pid_t pid, struct writer_process **ret,
			struct err *err)
{
	const struct sampled_process process = { .pid = pid };
	uint32_t number;
	int r = 0;

	*ret = writer_process_known(self, pid);
	if (*ret)
		return 0;
	if (!programs_find(self->programs, pid, &number))
		r = programs_number_any(self->programs, &process, &number, err);
	if (r)
		return r;
	*ret = process_add(self, pid, number);
	return *ret ? 0 : syscall_writer_no_memory(err);
}

int writer_process_write_cut(struct syscall_writer *self, const struct writer_process *process,
			     struct err *err)
{
	if (!process->cut.began_before && !process->cut.under_way)
		return 0;
	return recording_item(self->recording, CHUNK_SYSCALLS, &process->cut, err);
}

int writer_process_end(struct syscall_writer *self, pid_t pid, struct err *err)
{
	struct table_entry *entry = table_find(&self->process_indexes, (uint64_t)pid, 0);
	struct writer_process *process;
	size_t index;
	int r = 0;

	if (!entry)
		return 0;
	for (size_t i = self->thread_count; i-- > 0;) {
		if (self->threads[i]->pid != pid)
			continue;
		if (!r)
			r = slot_flush(&self->threads[i]->slot, self->recording, err);
		writer_thread_remove(self, i);
	}
	index = (size_t)entry->value;
	process = self->processes[index];
	if (!r)
		r = writer_process_write_cut(self, process, err);
	table_remove(&self->process_indexes, entry);
	writer_process_free(process);
	self->processes[index] = self->processes[--self->process_count];
	if (index < self->process_count) {
		entry = table_find(&self->process_indexes, (uint64_t)self->processes[index]->pid,
				   0);
		entry->value = index;
	}
	return r;
}

int writer_process_begin(struct syscall_writer *self, pid_t pid, struct err *err)
{
	const struct sampled_process process = { .pid = pid };
	uint32_t number;
	int r = writer_process_end(self, pid, err);

	if (!r)
		r = programs_number_any(self->programs, &process, &number, err);
	if (r)
		return r;
	return process_add(self, pid, number) ? 0 : syscall_writer_no_memory(err);
}

int writer_thread_find(struct syscall_writer *self, const struct writer_process *process, pid_t tid,
		       struct writer_thread **ret, struct err *err)
{
	struct ring_owner owner = { .tid = tid };
	struct writer_thread *thread;
	struct table_entry *entry =
		table_find(&self->thread_indexes, (uint64_t)tid, (uint64_t)process->pid);
	bool is_new;
	int r;

	if (entry) {
		*ret = self->threads[entry->value];
		return 0;
	}
	thread = calloc(1, sizeof(*thread));
	if (thread && !make_room(&self->threads, self->thread_count, &self->thread_room,
				 sizeof(struct writer_thread *)))
		entry = table_make(&self->thread_indexes, (uint64_t)tid, (uint64_t)process->pid,
				   &is_new);
	if (!entry) {
		free(thread);
		return syscall_writer_no_memory(err);
	}
	thread_read_name(process->pid, tid, owner.name, sizeof(owner.name));
	r = slot_begin(&thread->slot, self->recording, process->number, &owner, err);
	if (r) {
		table_remove(&self->thread_indexes, entry);
		free(thread);
		return r;
	}
	thread->pid = process->pid;
	entry->value = self->thread_count;
	self->threads[self->thread_count++] = *ret = thread;
	self->totals.collected.threads++;
	return 0;
}

void writer_process_renew(struct syscall_writer *self, struct writer_process *process)
{
	struct err ignored = { 0 };
	uint32_t number;

	syscall_files_closed(&process->files, -1);
	if (!programs_number(self->programs, process->pid, &number, &ignored) &&
	    number == process->number)
		return;
	(void)!writer_process_end(self, process->pid, &ignored);
}
