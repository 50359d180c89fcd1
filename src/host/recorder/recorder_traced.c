/*
 * The list of traced processes: named ones, and those that a tree attaches to, each with memory
 * made for it at that moment.  The lock guards the list against the trees' threads; it is never
 * held while attaching or writing.  These threads only note events, which the recorder's thread
 * reports.
 */
#include "host/recorder/recorder_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct traced *traced_add(struct recorder *self, pid_t pid, struct err *err)
{
	struct tracing_options options = self->tracing;
	struct traced *traced = calloc(1, sizeof(*traced)), **link = &self->traced;
	int r;

	if (!traced) {
		err_set(err, -ENOMEM, "no memory for the recording");
		return NULL;
	}
	/* Only the first process may wait at a doorstep, if limpet started it for this. */
	if (pid != self->roots[0].pid)
		options.session.attach.doorstep = 0;
	traced->pid = pid;
	traced->output = &self->output;
	r = self->given.folder ? open_own_output(self, traced, err) : 0;
	if (!r)
		r = tracing_new(&traced->tracing, &traced->output->programs, pid, &options, err);
	if (r) {
		traced_free(traced, /* keeps_file */ false);
		return NULL;
	}
	pthread_mutex_lock(&self->lock);
	while (*link)
		link = &(*link)->next;
	*link = traced;
	pthread_mutex_unlock(&self->lock);
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

static void traced_remove(struct recorder *self, struct traced *traced)
{
	struct traced **link = &self->traced;

	pthread_mutex_lock(&self->lock);
	while (*link != traced)
		link = &(*link)->next;
	*link = traced->next;
	pthread_mutex_unlock(&self->lock);
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
		r = recorder_output_end(&traced->own, &totals.collected, gives_up, r, err);
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

/* Between two polls the number may have been reused. */
static int prepare_process(void *context, pid_t pid, struct session_options *options,
			   struct err *err)
{
	struct recorder *self = context;
	struct traced *traced = traced_find(self, pid);

	if (traced && tracing_has_ended(traced->tracing)) {
		traced_set(self, traced, TRACED_OVER);
		traced = NULL;
	}
	if (!traced)
		traced = traced_add(self, pid, err);
	if (!traced)
		return err->code;
	traced_set(self, traced, TRACED_TRIED);
	options->trace = &traced->tracing->trace;
	if (pid != self->roots[0].pid)
		options->attach.doorstep = 0;
	return 0;
}

static void forget_process(void *context, pid_t pid)
{
	struct recorder *self = context;
	struct traced *traced = traced_find(self, pid);

	if (traced && !traced->was_in)
		traced_remove(self, traced);
	else if (traced)
		traced_set(self, traced, TRACED_OVER);
}

/* Without memory the event is lost. */
static void note_event(struct recorder *self, const struct tree_event *event)
{
	struct noted_event *noted = calloc(1, sizeof(*noted)), **link = &self->events;

	if (!noted)
		return;
	noted->pid = event->pid;
	noted->is_skipped = event->kind == TREE_SKIPPED;
	if (event->err)
		noted->err = *event->err;
	if (event->left)
		noted->left = *event->left;
	pthread_mutex_lock(&self->lock);
	while (*link)
		link = &(*link)->next;
	*link = noted;
	pthread_mutex_unlock(&self->lock);
}

static bool may_return(const char *reason)
{
	return strcmp(reason, "exit") && strcmp(reason, "exec") && strcmp(reason, "agent");
}

static void on_tree_event(const struct tree_event *event, void *context)
{
	struct recorder *self = context;
	struct traced *traced = traced_find(self, event->pid);

	if (event->kind == TREE_ATTACHED && traced)
		traced_set(self, traced, TRACED_IN);
	if (event->kind == TREE_LEFT && traced)
		traced_set(self, traced, may_return(event->reason) ? TRACED_OUT : TRACED_OVER);
	if ((event->kind == TREE_LEFT && event->left && event->left->count) ||
	    ((event->kind == TREE_LEFT || event->kind == TREE_SKIPPED) && event->err))
		note_event(self, event);
}

int family_begin(struct recorder *self, struct root *root, struct err *err)
{
	struct tree_options options = { .session = &self->tracing.session,
					.listen = on_tree_event,
					.context = self,
					.prepare = prepare_process,
					.failed = forget_process };

	/* Only the first start is judged: later forks belong to the family that the user
	 * allowed. */
	self->tracing.session.all_descendants |= self->has_begun;
	return tree_open(&root->tree, root->pid, &options, err);
}

int family_pause(struct recorder *self, struct root *root, bool unload, struct err *err)
{
	int r = tree_detach(root->tree, unload, "asked", err);

	self->earlier.missed += tree_count(root->tree).missed;
	tree_close(root->tree);
	root->tree = NULL;
	return r;
}

static struct noted_event *next_event(struct recorder *self)
{
	struct noted_event *noted;

	pthread_mutex_lock(&self->lock);
	noted = self->events;
	if (noted)
		self->events = noted->next;
	pthread_mutex_unlock(&self->lock);
	return noted;
}

void family_report(struct recorder *self, const struct recorder_listener *listener)
{
	struct noted_event *noted;

	for (struct traced *traced = traced_next(self, NULL); traced;
	     traced = traced_next(self, traced)) {
		if (!traced->is_reported && traced->tracing && listener->joined)
			listener->joined(listener->context, traced->tracing);
		traced->is_reported = true;
	}
	while ((noted = next_event(self))) {
		if (noted->is_skipped && listener->skipped)
			listener->skipped(listener->context, noted->pid, &noted->err);
		else if (!noted->is_skipped && listener->left)
			listener->left(listener->context, noted->pid, &noted->left, &noted->err);
		free(noted);
	}
}
