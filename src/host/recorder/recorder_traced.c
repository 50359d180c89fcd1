/*
 * The list of traced processes.  The lock guards it against the trees' threads; it is never held
 * while attaching or writing.
 */
#include "host/recorder/recorder_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_own_output(struct recorder *self, struct traced *traced, struct err *err)
{
	char *path;
	unsigned number;
	int r;

	pthread_mutex_lock(&self->lock);
	number = self->file_count++;
	pthread_mutex_unlock(&self->lock);
	if (asprintf(&path, "%s/%d-%u.limpet", self->given.folder, traced->pid, number) < 0)
		return err_set(err, -ENOMEM, "no memory for the recording");
	r = recorder_output_open(&traced->own, self, path, /* new_file */ -1, err);
	free(path);
	traced->output = &traced->own;
	return r;
}

static void traced_append(struct recorder *self, struct traced *traced)
{
	struct traced **link = &self->traced;

	pthread_mutex_lock(&self->lock);
	while (*link)
		link = &(*link)->next;
	*link = traced;
	pthread_mutex_unlock(&self->lock);
}

/* Only the first process may wait at a doorstep, if limpet started it for this. */
static struct tracing_options options_for(const struct recorder *self, pid_t pid)
{
	struct tracing_options options = self->tracing;

	if (pid != self->roots[0].pid)
		options.session.attach.doorstep = 0;
	return options;
}

struct traced *traced_add(struct recorder *self, pid_t pid, struct err *err)
{
	struct tracing_options options = options_for(self, pid);
	struct traced *traced = calloc(1, sizeof(*traced));
	int r;

	if (!traced) {
		err_set(err, -ENOMEM, "no memory for the recording");
		return NULL;
	}
	traced->pid = pid;
	traced->output = &self->output;
	r = self->given.folder ? open_own_output(self, traced, err) : 0;
	if (!r)
		r = tracing_new(&traced->tracing, &traced->output->programs, pid, &options, err);
	if (r) {
		traced_free(traced, /* keeps_file */ false);
		return NULL;
	}
	traced_append(self, traced);
	return traced;
}

struct traced *traced_find(struct recorder *self, pid_t pid)
{
	struct traced *traced;

	pthread_mutex_lock(&self->lock);
	traced = self->traced;
	while (traced && (traced->pid != pid || traced->state >= TRACED_OVER))
		traced = traced->next;
	pthread_mutex_unlock(&self->lock);
	return traced;
}

void traced_set(struct recorder *self, struct traced *traced, enum traced_state state)
{
	pthread_mutex_lock(&self->lock);
	traced->state = state;
	traced->was_in |= state == TRACED_IN;
	traced->own.is_unused &= state != TRACED_IN;
	pthread_mutex_unlock(&self->lock);
}

enum traced_state traced_state(struct recorder *self, const struct traced *traced)
{
	enum traced_state state;

	pthread_mutex_lock(&self->lock);
	state = traced->state;
	pthread_mutex_unlock(&self->lock);
	return state;
}

void traced_free(struct traced *traced, bool keeps_file)
{
	bool has_own = traced->output == &traced->own;

	tracing_free(traced->tracing);
	if (has_own && traced->own.path && !keeps_file)
		unlink(traced->own.path);
	if (has_own)
		recorder_output_done(&traced->own);
	free(traced);
}

static void unlink_traced(struct recorder *self, struct traced *traced)
{
	struct traced **link = &self->traced;

	pthread_mutex_lock(&self->lock);
	while (*link != traced)
		link = &(*link)->next;
	*link = traced->next;
	pthread_mutex_unlock(&self->lock);
}

void traced_remove(struct recorder *self, struct traced *traced)
{
	unlink_traced(self, traced);
	traced_free(traced, /* keeps_file */ false);
}

struct traced *traced_next(struct recorder *self, struct traced *after)
{
	struct traced *traced;

	pthread_mutex_lock(&self->lock);
	traced = after ? after->next : self->traced;
	while (traced && !traced->was_in)
		traced = traced->next;
	pthread_mutex_unlock(&self->lock);
	return traced;
}

static int end_own_output(struct traced *traced, const struct tracing_totals *totals, int r,
			  bool gives_up, struct err *err)
{
	struct recorded_end end = recorder_end_of(&totals->collected, gives_up);
	struct err second = { 0 };
	int closed = recorder_output_end(&traced->own, r ? NULL : &end, r ? &second : err);

	return r ? r : closed;
}

/* Frees a process that has no file of its own. */
int traced_end(struct recorder *self, struct traced *traced, bool gives_up, struct err *err)
{
	const struct recorder_listener *listener = &self->given.listener;
	struct tracing_totals totals;
	int r = tracing_finish(traced->tracing, gives_up, err);

	tracing_totals(traced->tracing, &totals);
	totals.processes = traced->was_in;
	tracing_totals_add(&self->earlier, &totals);
	if (self->given.folder)
		r = end_own_output(traced, &totals, r, gives_up, err);
	if (listener->ended)
		listener->ended(listener->context, traced->tracing);
	traced_set(self, traced, TRACED_ENDED);
	tracing_free(traced->tracing);
	traced->tracing = NULL;
	if (r && (self->given.folder || self->given.has_children))
		err_while(err, "record process %d", traced->pid);
	if (!self->given.folder)
		traced_remove(self, traced);
	return r;
}
