/*
 * A tree attaches to a family, each process with memory made for it at that moment.  The tree's
 * threads only note events, which the recorder's thread reports.
 */
#include "host/recorder/recorder_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	options->trace = tracing_lend(traced->tracing);
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
static void tell_later(struct recorder *self, const struct tree_event *event)
{
	struct told_later *later = calloc(1, sizeof(*later)), **link = &self->later;

	if (!later)
		return;
	later->pid = event->pid;
	later->is_skipped = event->kind == TREE_SKIPPED;
	if (event->err)
		later->err = *event->err;
	if (event->left)
		later->left = *event->left;
	pthread_mutex_lock(&self->lock);
	while (*link)
		link = &(*link)->next;
	*link = later;
	pthread_mutex_unlock(&self->lock);
}

static bool may_come_again(const char *reason)
{
	static const char *const final[] = { "exit", "exec", "agent" };

	for (size_t i = 0; i < ARRAY_SIZE(final); i++)
		if (!strcmp(reason, final[i]))
			return false;
	return true;
}

static void note_left(struct recorder *self, const struct tree_event *event)
{
	struct traced *traced = traced_find(self, event->pid);

	if (traced)
		traced_set(self, traced, may_come_again(event->reason) ? TRACED_OUT : TRACED_OVER);
	if (event->err || (event->left && event->left->count))
		tell_later(self, event);
}

static void hear_tree(const struct tree_event *event, void *context)
{
	struct recorder *self = context;
	struct traced *traced;

	if (event->kind == TREE_SKIPPED && event->err)
		tell_later(self, event);
	if (event->kind == TREE_LEFT)
		note_left(self, event);
	traced = event->kind == TREE_ATTACHED ? traced_find(self, event->pid) : NULL;
	if (traced)
		traced_set(self, traced, TRACED_IN);
}

int family_begin(struct recorder *self, struct root *root, struct err *err)
{
	struct tree_options options = { .session = &self->tracing.session,
					.listen = hear_tree,
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
	int r = tree_leave(root->tree, unload, "asked", err);

	self->earlier.missed += tree_count(root->tree).missed;
	tree_close(root->tree);
	root->tree = NULL;
	return r;
}

static struct told_later *take_later(struct recorder *self)
{
	struct told_later *later;

	pthread_mutex_lock(&self->lock);
	later = self->later;
	if (later)
		self->later = later->next;
	pthread_mutex_unlock(&self->lock);
	return later;
}

void family_tell(struct recorder *self)
{
	const struct recorder_listener *listener = &self->given.listener;
	struct told_later *later;

	for (struct traced *traced = traced_next(self, NULL); traced;
	     traced = traced_next(self, traced)) {
		if (!traced->is_told && traced->tracing && listener->joined)
			listener->joined(listener->context, traced->tracing);
		traced->is_told = true;
	}
	while ((later = take_later(self))) {
		if (later->is_skipped && listener->skipped)
			listener->skipped(listener->context, later->pid, &later->err);
		else if (!later->is_skipped && listener->left)
			listener->left(listener->context, later->pid, &later->left, &later->err);
		free(later);
	}
}

void family_forget(struct recorder *self)
{
	struct told_later *later;

	while ((later = take_later(self)))
		free(later);
}
