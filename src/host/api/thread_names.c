/*
 * Reads names of threads from /proc.
 */
#include "host/api/thread_names.h"

#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/process/procfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_NS  1000000000u
#define NAMES_MAX 8192u /* threads start and end: then the table is emptied */

static void read_name(struct thread_name *name, pid_t pid, pid_t tid)
{
	char path[48], text[32];
	struct err ignored;
	ssize_t size;

	snprintf(path, sizeof(path), "task/%d/comm", tid);
	size = proc_read_small(pid, path, text, sizeof(text), &ignored);
	if (size <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(name->text, sizeof(name->text), "%s", text);
}

static struct thread_name *name_of(struct thread_names *self, pid_t pid, pid_t tid)
{
	struct table_entry *entry;
	bool is_new;

	if (self->count >= NAMES_MAX)
		thread_names_done(self);
	if (make_room(&self->names, self->count, &self->room, sizeof(*self->names)))
		return NULL;
	entry = table_make(&self->by_thread, (uint64_t)pid, (uint64_t)tid, &is_new);
	if (!entry)
		return NULL;
	if (is_new) {
		entry->value = self->count;
		self->names[self->count++] = (struct thread_name){ 0 };
	}
	return &self->names[entry->value];
}

const char *thread_name_of(struct thread_names *self, pid_t pid, pid_t tid)
{
	struct thread_name *name = name_of(self, pid, tid);
	uint64_t now = now_ns();

	if (!name)
		return "";
	if (!name->read_ns || now - name->read_ns >= FRESH_NS) {
		name->read_ns = now;
		read_name(name, pid, tid);
	}
	return name->text;
}

void thread_names_done(struct thread_names *self)
{
	table_done(&self->by_thread);
	free(self->names);
	*self = (struct thread_names){ 0 };
}
