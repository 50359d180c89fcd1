/*
 * Drives the tracing of one process: the collector runs from before the first hook is installed
 * until after the last is removed.
 */
#include "host/recorder/tracing/tracing_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void tracing_free(struct tracing *self)
{
	if (!self)
		return;
	collector_free(self->collector);
	call_stacks_free(self->stacks);
	callers_free(self->callers);
	if (self->pidfd >= 0)
		close(self->pidfd);
	trace_close(&self->trace);
	target_threads_done(&self->threads);
	free(self);
}

int tracing_new(struct tracing **ret, struct programs *programs, pid_t pid,
		const struct tracing_options *options, struct err *err)
{
	struct tracing *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory for the recording");
	self->pid = self->threads.pid = pid;
	self->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	self->trace.fd = -1;
	self->programs = programs;
	self->given = options->trace;
	self->windows = options->windows;
	self->options = options->session;
	self->options.trace = &self->trace;
	r = trace_open(&self->trace, &options->trace, err);
	if (!r)
		r = tracing_begin_program(self, err);
	if (r)
		tracing_free(self);
	else
		*ret = self;
	return r;
}

int tracing_start(struct tracing *self, struct err *err)
{
	int r = tracing_attach(self, &self->options, err);

	if (!r)
		tracing_note_attached(self);
	return r;
}

int tracing_pause(struct tracing *self, bool unload, struct session_left *ret_left, struct err *err)
{
	const struct target *target = &self->session.attachment.target;
	int r = 0;

	ret_left->count = 0;
	if (!self->is_attached)
		return 0;
	if (!tracing_note_farewell(self) && target_lives(target))
		r = session_detach(&self->session, unload, ret_left, err);
	/* That the process has ended, or executed another program, before the detach is an end
	 * too. */
	if (r && (!target_lives(target) || tracing_note_cut(self))) {
		if (self->is_following && !self->unfollowed.code)
			err_set(&self->unfollowed, -ECANCELED,
				"the recording ended at that moment");
		memset(err, 0, sizeof(*err));
		r = 0;
	}
	session_close(&self->session);
	self->is_attached = false;
	return r;
}

/* Searches for runtimes that limpet's register libraries do not know. */
int tracing_check(struct tracing *self, struct err *err)
{
	int r = tracing_follow(self, err);

	if (r)
		return r;
	if (self->is_attached && trace_absent(&self->trace) & DOMAINS_TABLES)
		registers_query_again(&self->session.attachment, &self->options, &self->watch);
	return self->collector ? collector_check(self->collector, err) : 0;
}

int tracing_finish(struct tracing *self, bool gives_up, struct err *err)
{
	struct err ignored = { 0 };
	int r;

	if (self->is_finished || !self->collector)
		return 0;
	self->is_finished = true;
	collector_stop(self->collector);
	r = gives_up ? 0 : collector_finish(self->collector, err);
	if (!r && self->callers)
		r = callers_finish(self->callers, err);
	/* Modules may have been loaded since the last list; after its end the first list must do:
	 * the number may have been reused. */
	if (!r && !tracing_has_ended(self))
		(void)!facts_modules(self->programs->recording, self->pid, self->process, &ignored);
	return r;
}

bool tracing_has_ended(const struct tracing *self)
{
	return !pidfd_lives(self->pidfd);
}

uint32_t tracing_absent(const struct tracing *self)
{
	return trace_absent(&self->trace) & ~self->found_before;
}
