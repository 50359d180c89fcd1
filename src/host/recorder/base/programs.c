/*
 * Numbers the programs that processes run, one after the other, and reads the usage of processes.
 */
#include "host/recorder/base/programs.h"

#include "host/collect/facts.h"
#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/export/amd/output/name_rule.h"
#include "host/process/stat.h"
#include "host/recording/facts.h"

#include <errno.h>
#include <stdlib.h>

#define READ_NS      200000000u
#define WRITE_NS     1000000000u
#define READ_AT_ONCE 8u

int programs_init(struct programs *programs, struct recording *recording, bool with_files,
		  const char *const *variables)
{
	size_t count = 0;

	*programs = (struct programs){ .recording = recording, .with_files = with_files };
	pthread_mutex_init(&programs->lock, NULL);
	for (const char *const *name = name_rule_variables; *name; name++)
		programs->variables[count++] = *name;
	for (; variables && *variables && count < PROGRAMS_VARIABLES_MAX; variables++)
		programs->variables[count++] = *variables;
	return stack_list_init(&programs->stacks);
}

void programs_done(struct programs *programs)
{
	table_done(&programs->indexes);
	free(programs->items);
	network_done(&programs->network);
	stack_list_done(&programs->stacks);
	bytes_done(&programs->usage.bytes);
	pthread_mutex_destroy(&programs->lock);
}

static struct known_program *program_find(const struct programs *self, pid_t pid)
{
	const struct table_entry *entry = table_find(&self->indexes, (uint64_t)pid, 0);

	return entry ? &self->items[entry->value] : NULL;
}

static struct known_program *program_make(struct programs *self, pid_t pid)
{
	struct known_program *program = program_find(self, pid);
	struct table_entry *entry;
	bool is_new;

	if (program)
		return program;
	if (make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
		return NULL;
	entry = table_make(&self->indexes, (uint64_t)pid, 0, &is_new);
	if (!entry)
		return NULL;
	entry->value = self->count;
	self->items[self->count] = (struct known_program){ 0 };
	return &self->items[self->count++];
}

/* Without the right to read mappings and files, states of threads can still be read. */
static int forgive_rights(int r, struct err *err)
{
	if (r != -EACCES && r != -EPERM)
		return r;
	*err = (struct err){ 0 };
	return 0;
}

static int program_describe(struct programs *self, pid_t pid, uint32_t *ret, struct err *err)
{
	int r = facts_process(self->recording, pid, ret, err);

	if (!r && !self->without_modules)
		r = forgive_rights(facts_modules(self->recording, pid, *ret, err), err);
	if (!r && self->with_files)
		r = forgive_rights(facts_files(self->recording, pid, *ret, &self->network, err),
				   err);
	return r ? r : facts_variables(self->recording, pid, *ret, self->variables, err);
}

static int program_write(struct programs *self, pid_t pid, uint32_t *ret, struct err *err)
{
	struct identity now;
	bool is_read = !identity_read(pid, pid, &now, NULL);
	struct known_program *program = program_find(self, pid);
	int r;

	/* If its memory may not be read, the program counts as another one. */
	if (program && is_read && program->is_known && now.has_random &&
	    identity_compare(&program->identity, &now) == IDENTITY_SAME) {
		*ret = program->number;
		return 0;
	}
	r = program_describe(self, pid, ret, err);
	if (r)
		return r;
	program = program_make(self, pid);
	if (!program)
		return err_set(err, -ENOMEM, "no memory for process %d", pid);
	*program = (struct known_program){ .is_known = is_read && now.has_random,
					   .pid = pid,
					   .number = *ret };
	if (program->is_known)
		program->identity = now;
	return 0;
}

int programs_number(struct programs *self, pid_t pid, uint32_t *ret, struct err *err)
{
	int r;

	pthread_mutex_lock(&self->lock);
	r = program_write(self, pid, ret, err);
	pthread_mutex_unlock(&self->lock);
	return r;
}

bool programs_find(struct programs *self, pid_t pid, uint32_t *ret)
{
	const struct known_program *program;

	pthread_mutex_lock(&self->lock);
	program = program_find(self, pid);
	if (program)
		*ret = program->number;
	pthread_mutex_unlock(&self->lock);
	return program;
}

int programs_number_any(struct programs *self, const struct sampled_process *process, uint32_t *ret,
			struct err *err)
{
	struct recorded_process bare = { .pid = process->pid,
					 .name = process->name ? process->name : "",
					 .executable = "",
					 .command = "",
					 .folder = "" };
	struct err ignored = { 0 };
	int r = 0;

	if (process->is_unread || programs_number(self, process->pid, ret, &ignored)) {
		r = recording_process(self->recording, &bare, err);
		*ret = bare.number;
	}
	return r;
}

/* Round robin, each at most once: copies of processes that have not ended. */
static size_t programs_next(struct programs *self, struct known_program *ret, size_t room)
{
	size_t count = 0;

	pthread_mutex_lock(&self->lock);
	for (size_t i = 0; i < self->count && count < room; i++) {
		ret[count] = self->items[self->usage.cursor++ % self->count];
		count += !ret[count].is_gone;
	}
	pthread_mutex_unlock(&self->lock);
	return count;
}

/* A later process with the same pid is not gone. */
static void program_set_gone(struct programs *self, pid_t pid)
{
	struct known_program *program;

	pthread_mutex_lock(&self->lock);
	program = program_find(self, pid);
	if (program)
		program->is_gone = true;
	pthread_mutex_unlock(&self->lock);
}

static void usage_read(struct programs *self, const struct known_program *program)
{
	struct process_usage usage;

	if (process_usage_read(program->pid, &usage)) {
		program_set_gone(self, program->pid);
		return;
	}
	if (!self->usage.bytes.size)
		bytes_u32(&self->usage.bytes, 0);
	item_put(&self->usage.bytes, CHUNK_USAGE,
		 &(struct recorded_usage){ .process = program->number,
					   .threads = usage.threads,
					   .time_ns = now_ns(),
					   .cpu_ns = usage.cpu_ns,
					   .rss_bytes = usage.rss_bytes });
	self->usage.count++;
}

int programs_write_usage(struct programs *self, struct err *err)
{
	int r = 0;

	if (self->usage.count) {
		count_set(&self->usage.bytes, self->usage.count);
		r = recording_samples(self->recording, CHUNK_USAGE, &self->usage.bytes, err);
	}
	bytes_done(&self->usage.bytes);
	self->usage.bytes = (struct bytes){ 0 };
	self->usage.count = 0;
	return r;
}

int programs_check_usage(struct programs *self, struct err *err)
{
	struct known_program some[READ_AT_ONCE];
	uint64_t time_ns = now_ns();
	size_t count;

	if (time_ns - self->usage.read_ns < READ_NS)
		return 0;
	self->usage.read_ns = time_ns;
	count = programs_next(self, some, ARRAY_SIZE(some));
	for (size_t i = 0; i < count; i++)
		usage_read(self, &some[i]);
	if (time_ns - self->usage.written_ns < WRITE_NS)
		return 0;
	self->usage.written_ns = time_ns;
	return programs_write_usage(self, err);
}
