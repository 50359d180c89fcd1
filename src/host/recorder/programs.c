/*
 * Numbers the programs that processes run, one after the other.
 */
#include "host/recorder/programs.h"

#include "host/collect/facts.h"
#include "host/core/room.h"
#include "host/export/amd/output/name_rule.h"

#include <errno.h>
#include <stdlib.h>

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
	pthread_mutex_destroy(&programs->lock);
}

/* If its memory may not be read, the program counts as another one. */
static bool program_is_same(const struct known_program *program, const struct identity *now)
{
	return program->is_known && now->has_random &&
	       identity_compare(&program->identity, now) == IDENTITY_SAME;
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

static int program_tell(struct programs *self, pid_t pid, uint32_t *ret, struct err *err)
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
	struct err ignored = { 0 };
	bool is_read = !identity_read(pid, pid, &now, &ignored);
	struct known_program *program = program_find(self, pid);
	int r;

	if (program && is_read && program_is_same(program, &now)) {
		*ret = program->number;
		return 0;
	}
	r = program_tell(self, pid, ret, err);
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

size_t programs_next(struct programs *self, size_t *cursor, struct program_number *ret, size_t room)
{
	size_t count = 0;

	pthread_mutex_lock(&self->lock);
	for (size_t i = 0; i < self->count && count < room; i++) {
		const struct known_program *program = &self->items[(*cursor)++ % self->count];

		if (!program->is_gone)
			ret[count++] = (struct program_number){ program->pid, program->number };
	}
	pthread_mutex_unlock(&self->lock);
	return count;
}

void programs_set_gone(struct programs *self, pid_t pid)
{
	struct known_program *program;

	pthread_mutex_lock(&self->lock);
	program = program_find(self, pid);
	if (program)
		program->is_gone = true;
	pthread_mutex_unlock(&self->lock);
}
