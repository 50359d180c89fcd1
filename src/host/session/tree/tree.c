/*
 * Begins and ends the sessions with a family.  The threads belong to the caller's process, but take
 * no signal, and make no child that the caller could see.
 */
#include "host/core/clock.h"
#include "host/core/threads/quiet_thread.h"
#include "host/process/forks/scope.h"
#include "host/session/tree/tree_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SETTLE_NS  5000000000ull
#define TRY_FOR_NS 100000000ull /* per member: the others wait meanwhile */

static void free_texts(const char *const *texts, size_t count)
{
	for (size_t i = 0; texts && i < count; i++)
		free((void *)(uintptr_t)texts[i]);
	free((void *)(uintptr_t)texts);
}

/* Members that are added later must find the same files, even after the caller's chdir. */
static const char *const *copy_texts(const char *const *texts, size_t count, bool are_paths)
{
	const char **copy = calloc(count + 1, sizeof(*copy));
	char full[PATH_MAX];

	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(are_paths && realpath(texts[i], full) ? full : texts[i]);
		if (copy[i])
			continue;
		free_texts(copy, count);
		return NULL;
	}
	return copy;
}

static int copy_options(struct tree *self, const struct session_options *given, struct err *err)
{
	self->options = *given;
	self->options.attach.tries_for_ns = TRY_FOR_NS;
	self->options.tools = copy_texts(given->tools, given->tool_count, true);
	self->options.libraries = copy_texts(given->libraries, given->library_count, true);
	self->options.variables = copy_texts(given->variables, given->variable_count, false);
	if (self->options.tools && self->options.libraries && self->options.variables)
		return 0;
	return err_set(err, -ENOMEM, "no memory for the options");
}

static int tree_watch(const struct tree *self, int fd)
{
	struct epoll_event event = { .events = EPOLLIN }; /* data 0: no member */

	return fd < 0 || epoll_ctl(self->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_descriptors(struct tree *self, struct err *err)
{
	int r;

	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	self->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	self->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	forks_open(&self->forks);
	r = self->end < 0 ? -errno : tree_watch(self, self->stop);
	if (!r && self->forks.events >= 0)
		r = tree_watch(self, self->forks.events);
	return r ? err_set(err, r, "descriptors for following: %s", strerror(-r)) : 0;
}

static struct tree *tree_create(pid_t root, const struct tree_options *options, struct err *err)
{
	struct tree *self = calloc(1, sizeof(*self));
	pthread_condattr_t attributes;

	if (!self) {
		err_set(err, -ENOMEM, "no memory for the family of %d", root);
		return NULL;
	}
	self->root = root;
	self->given = *options;
	pthread_mutex_init(&self->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&self->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!open_descriptors(self, err) && !copy_options(self, options->session, err))
		return self;
	tree_close(self);
	return NULL;
}

static int start_threads(struct tree *self, struct err *err)
{
	int r = 0;

	while (!r && self->worker_count < TREE_WORKERS) {
		r = quiet_thread(&self->workers[self->worker_count], tree_work, self);
		self->worker_count += !r;
	}
	if (!r)
		r = quiet_thread(&self->follower, tree_follow, self);
	self->has_follower = !r;
	return r ? err_set(err, r, "a thread for following: %s", strerror(-r)) : 0;
}

/* Twice: forks during the first scan have been noted by the second. */
static int tree_gather(struct tree *self, struct err *err)
{
	struct process_status status;
	struct lineage lineage;
	int r = status_read(self->root, self->root, &status, err);

	if (r)
		return r;
	if (lineage_read(self->root, &lineage) || lineage.has_ended) {
		err_set(err, -ESRCH, "cannot attach to %d: it has ended", self->root);
		return err_exit(err, EXIT_NO_PROCESS);
	}
	pthread_mutex_lock(&self->lock);
	member_add(self, &lineage);
	pthread_mutex_unlock(&self->lock);
	tree_poll(self);
	self->forks.next_walk_ns = 0;
	tree_poll(self);
	return 0;
}

static bool is_pending(const struct member *member)
{
	return member->state == MEMBER_WAITING || member->state == MEMBER_BUSY;
}

static bool has_pending(const struct tree *self)
{
	for (size_t i = 0; i < self->count; i++)
		if (self->members[i]->is_initial && is_pending(self->members[i]))
			return true;
	return false;
}

/* Waits for the root in any case, for slow descendants only for a while. */
static void await_settled(struct tree *self)
{
	uint64_t limit_ns = now_ns() + SETTLE_NS;
	struct timespec limit = { (time_t)(limit_ns / 1000000000u),
				  (long)(limit_ns % 1000000000u) };

	pthread_mutex_lock(&self->lock);
	while (has_pending(self)) {
		const struct member *root = member_find(self, self->root);
		bool is_late = now_ns() >= limit_ns;

		if (is_late && self->counts.attached && !(root && is_pending(root)))
			break;
		if (is_late)
			pthread_cond_wait(&self->changed, &self->lock);
		else
			pthread_cond_timedwait(&self->changed, &self->lock, &limit);
	}
	self->is_settled = true;
	if (self->counts.attached)
		tree_notify(self, (struct tree_event){ .kind = TREE_SETTLED, .pid = self->root });
	pthread_mutex_unlock(&self->lock);
}

int tree_open(struct tree **ret, pid_t root, const struct tree_options *options, struct err *err)
{
	bool is_allowed = options->session->all_descendants || options->session->attach.doorstep;
	struct tree *self;
	int r = is_allowed ? 0 : scope_check(root, err);

	if (r)
		return r;
	self = tree_create(root, options, err);
	if (!self)
		return err->code;
	r = tree_gather(self, err);
	if (!r)
		r = start_threads(self, err);
	if (!r)
		await_settled(self);
	if (!r && !tree_count(self).attached) {
		*err = self->root_error;
		r = err->code ? err->code : target_fail_ended(err);
	}
	if (r)
		tree_close(self);
	else
		*ret = self;
	return r;
}

int tree_end_fd(const struct tree *tree)
{
	return tree->end;
}

enum forks_source tree_source(const struct tree *tree)
{
	return tree->forks.source;
}

struct tree_counts tree_count(struct tree *tree)
{
	struct tree_counts counts;

	pthread_mutex_lock(&tree->lock);
	counts = tree->counts;
	pthread_mutex_unlock(&tree->lock);
	return counts;
}

struct attach_report tree_root_report(struct tree *tree)
{
	struct attach_report report;

	pthread_mutex_lock(&tree->lock);
	report = tree->root_report;
	pthread_mutex_unlock(&tree->lock);
	return report;
}

void tree_complaints(struct tree *tree, char *ret, size_t room)
{
	pthread_mutex_lock(&tree->lock);
	snprintf(ret, room, "%s%s%s", tree->first_skip.what,
		 tree->first_skip.code && tree->first_failure[0] ? "\n" : "", tree->first_failure);
	pthread_mutex_unlock(&tree->lock);
}

/* The workers detach from all members before they end. */
static void stop_threads(struct tree *self)
{
	pthread_mutex_lock(&self->lock);
	__atomic_store_n(&self->is_leaving, true, __ATOMIC_RELEASE); /* read by the follower */
	pthread_cond_broadcast(&self->changed);
	pthread_mutex_unlock(&self->lock);
	eventfd_write(self->stop, 1);
	if (self->has_follower)
		pthread_join(self->follower, NULL);
	self->has_follower = false;
	while (self->worker_count)
		pthread_join(self->workers[--self->worker_count], NULL);
}

int tree_detach(struct tree *self, bool unload, const char *reason, struct err *err)
{
	pthread_mutex_lock(&self->lock);
	self->unloads = unload;
	self->reason = reason;
	pthread_mutex_unlock(&self->lock);
	stop_threads(self);
	for (size_t i = 0; i < self->count; i++)
		self->counts.missed += self->members[i]->state == MEMBER_WAITING &&
				       !self->members[i]->was_attached;
	if (self->leave_error.code)
		*err = self->leave_error;
	return self->leave_error.code;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void tree_close(struct tree *self)
{
	if (!self)
		return;
	stop_threads(self);
	while (self->count)
		member_remove(self, self->members[0]);
	forks_close(&self->forks);
	close_fd(self->epoll);
	close_fd(self->stop);
	close_fd(self->end);
	free_texts(self->options.tools, self->options.tool_count);
	free_texts(self->options.libraries, self->options.library_count);
	free_texts(self->options.variables, self->options.variable_count);
	free(self->members);
	pthread_cond_destroy(&self->changed);
	pthread_mutex_destroy(&self->lock);
	free(self);
}
