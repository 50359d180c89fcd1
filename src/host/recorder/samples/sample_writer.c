/*
 * Turns samples into chunks: processes, threads, and the samples themselves.
 */
#include "host/recorder/samples/sample_writer.h"

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/core/room.h"
#include "host/process/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sampled_thread {
	struct recorded_thread facts;
	pid_t pid;
	char name[64];
	bool is_seen;   /* since the last round */
	bool was_named; /* its Python's name was queried */
	struct last_stack last;
};

struct sample_writer {
	struct programs *programs;
	struct python_watch *watch;
	struct table processes;      /* (pid, 0): number, and above it that of its name */
	struct table sampled;        /* (pid, 0): processes with a sample */
	struct pool names;           /* of processes, from the sampler */
	struct table thread_numbers; /* (process, tid): index in threads */
	struct sampled_thread *threads;
	size_t thread_count, thread_room;
	struct pending new_samples;
};

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "samples: no memory");
}

int sample_writer_new(struct sample_writer **ret, struct programs *programs,
		      struct python_watch *watch, struct err *err)
{
	struct sample_writer *self = calloc(1, sizeof(*self));

	if (!self)
		return no_memory(err);
	self->programs = programs;
	self->watch = watch;
	*ret = self;
	return 0;
}

void sample_writer_free(struct sample_writer *self)
{
	if (!self)
		return;
	for (size_t i = 0; i < self->thread_count; i++)
		free(self->threads[i].last.frames);
	table_done(&self->processes);
	table_done(&self->sampled);
	pool_done(&self->names);
	table_done(&self->thread_numbers);
	free(self->threads);
	bytes_done(&self->new_samples.bytes);
	free(self);
}

int sample_writer_flush(struct sample_writer *self, struct err *err)
{
	struct recording *recording = self->programs->recording;
	int r = stack_list_write(&self->programs->stacks, recording, err);

	return r ? r : pending_write(&self->new_samples, CHUNK_SAMPLES, recording, err);
}

static int add_thread(struct sample_writer *self, uint64_t process, const struct sample *sample,
		      struct err *err)
{
	struct sampled_thread thread = {
		.facts = { .process = (uint32_t)process, .tid = (int32_t)sample->tid },
		.pid = (pid_t)sample->pid,
	};
	uint32_t name = (uint32_t)(process >> 32);
	bool is_new;
	int r;

	if (!table_make(&self->sampled, sample->pid, 0, &is_new) ||
	    make_room(&self->threads, self->thread_count, &self->thread_room,
		      sizeof(*self->threads)))
		return no_memory(err);
	/* The first thread of an ended process gets the process's name. */
	if (sample->tid == sample->pid && name < self->names.count)
		snprintf(thread.name, sizeof(thread.name), "%s", pool_text(&self->names, name));
	thread_read_name(thread.pid, thread.facts.tid, thread.name, sizeof(thread.name));
	thread.facts.name = thread.name;
	r = recording_thread(self->programs->recording, &thread.facts, err);
	if (!r)
		self->threads[self->thread_count++] = thread;
	return r;
}

static int set_process(struct sample_writer *self, const struct sampled_process *process,
		       uint32_t number, struct err *err)
{
	uint32_t name = pool_add(&self->names, process->name ? process->name : "");
	bool is_new;
	struct table_entry *entry =
		table_make(&self->processes, (uint64_t)process->pid, 0, &is_new);

	if (!entry || name == POOL_NONE)
		return no_memory(err);
	entry->value = (uint64_t)name << 32 | number;
	return 0;
}

int sample_writer_process(struct sample_writer *self, const struct sampled_process *process,
			  struct err *err)
{
	uint32_t number;
	int r = programs_number_any(self->programs, process, &number, err);

	return r ? r : set_process(self, process, number, err);
}

/* A process that the recording began with may have ended by now. */
static int begin_process(struct sample_writer *self, pid_t pid, struct err *err)
{
	const struct sampled_process process = { .pid = pid };
	uint32_t number;

	return programs_find(self->programs, pid, &number)
		       ? set_process(self, &process, number, err)
		       : sample_writer_process(self, &process, err);
}

/* The thread's index in the list. */
static int find_thread(struct sample_writer *self, const struct sample *sample, size_t *ret,
		       struct err *err)
{
	const struct table_entry *process = table_find(&self->processes, sample->pid, 0);
	struct table_entry *entry;
	bool is_new;
	int r = 0;

	if (!process) {
		r = begin_process(self, (pid_t)sample->pid, err);
		process = table_find(&self->processes, sample->pid, 0);
	}
	if (r || !process)
		return r ? r : -ESRCH;
	entry = table_make(&self->thread_numbers, (uint32_t)process->value, sample->tid, &is_new);
	if (!entry)
		return no_memory(err);
	if (is_new) {
		entry->value = self->thread_count;
		r = add_thread(self, process->value, sample, err);
		if (r)
			table_remove(&self->thread_numbers, entry);
	}
	*ret = (size_t)entry->value;
	return r;
}

static int refresh_thread(struct sample_writer *self, struct sampled_thread *thread,
			  struct err *err)
{
	char name[sizeof(thread->name)];

	if (!thread->is_seen)
		return 0;
	thread->is_seen = false;
	memcpy(name, thread->name, sizeof(name));
	if (!python_watch_name(self->watch, thread->pid, thread->facts.tid, thread->name,
			       sizeof(thread->name)))
		thread_read_name(thread->pid, thread->facts.tid, thread->name,
				 sizeof(thread->name));
	thread->facts.name = thread->name;
	return strcmp(name, thread->name) ? recording_item(self->programs->recording, CHUNK_THREAD,
							   &thread->facts, err)
					  : 0;
}

int sample_writer_add(struct sample_writer *self, const struct sample *sample,
		      const struct space *space, struct err *err)
{
	struct pending *pending = &self->new_samples;
	struct recorded_sample recorded;
	struct sampled_thread *thread;
	uint32_t stack;
	size_t index = 0;
	int r;

	if (sample->kind >= SAMPLE_KINDS || sample->end >= STACK_ENDS)
		return 0;
	r = find_thread(self, sample, &index, err);
	if (r)
		return r;
	thread = &self->threads[index];
	thread->is_seen = true;
	if (!thread->was_named && python_watch_knows(self->watch, thread->pid)) {
		thread->was_named = true;
		r = refresh_thread(self, thread, err);
		if (r)
			return r;
	}
	if (stack_list_find(&self->programs->stacks, thread->facts.process, sample, space,
			    &thread->last, &stack))
		return no_memory(err);
	recorded = recorded_sample_of(sample, thread->facts.number, stack);
	pending_add(pending, 0);
	sample_pack(&pending->bytes, &pending->packer, &recorded);
	return 0;
}

int sample_writer_refresh(struct sample_writer *self, struct err *err)
{
	int r = 0;

	stack_list_follow(&self->programs->stacks);
	for (size_t i = 0; !r && i < self->thread_count; i++)
		r = refresh_thread(self, &self->threads[i], err);
	return r;
}

/* For all threads with samples, written anew each time. */
int sample_writer_locks(struct sample_writer *self, struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	struct watched_thread watched;
	uint32_t count = 0;

	bytes_u32(&bytes, 0);
	for (size_t i = 0; i < self->thread_count; i++) {
		const struct sampled_thread *thread = &self->threads[i];

		if (!python_watch_find(self->watch, thread->pid, thread->facts.tid, &watched) ||
		    !watched.looks)
			continue;
		item_put(&bytes, CHUNK_GIL,
			 &(struct recorded_gil){ thread->facts.number, watched.looks, watched.held,
						 watched.waited });
		count++;
	}
	count_set(&bytes, count);
	return count ? recording_samples(self->programs->recording, CHUNK_GIL, &bytes, err) : 0;
}

void sample_writer_count(const struct sample_writer *self, uint64_t *ret_seen,
			 uint64_t *ret_sampled, uint64_t *ret_threads)
{
	*ret_seen = self->processes.count;
	*ret_sampled = self->sampled.count;
	*ret_threads = self->thread_count;
}
