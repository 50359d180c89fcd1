/*
 * One process is attached by its recorder.  With descendants a tree attaches, each process with the
 * memory of the recorder that is made for it then.  The tree's threads and ours meet under the
 * lock, which is never held while something is attached or written.
 */
#include "family.h"

#include "host/model/domains.h"
#include "host/recorder/recorder.h"
#include "host/recording/drops.h"
#include "host/session/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef LIMPET_VERSION
#error "the build gives it"
#endif

enum member_state {
	MEMBER_TRIED, /* a thread of the tree has it */
	MEMBER_IN,
	MEMBER_OUT,   /* left; may be attached again */
	MEMBER_OVER,  /* it has ended, or runs another program */
	MEMBER_ENDED, /* its recording is complete */
};

struct member {
	pid_t pid;
	enum member_state state;
	bool was_in;
	char *path;
	struct recorder *recorder; /* until it has ended */
	struct recorder_outcome outcome;
	struct member *next;
};

struct family {
	struct family_options options;
	struct tree *tree;
	pthread_mutex_t lock;
	struct member *members; /* the latest first */
	unsigned count;         /* of files */
};

int family_open(struct family **ret, const struct family_options *options, struct err *err)
{
	struct family *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "memory for the recording");
	self->options = *options;
	pthread_mutex_init(&self->lock, NULL);
	*ret = self;
	return 0;
}

static void free_member(struct member *member, bool keeps_file)
{
	struct recorder_outcome ignored;
	struct err err;

	if (member->recorder && recorder_end(member->recorder, true, &ignored, &err))
		err.code = 0;
	if (member->path && !keeps_file)
		unlink(member->path);
	free(member->path);
	free(member);
}

static struct session_options session_of(const struct family *self)
{
	return (struct session_options){ .attach.doorstep = self->options.doorstep,
					 .tools = self->options.tools,
					 .tool_count = self->options.tool_count,
					 .is_strict = true };
}

static unsigned take_number(struct family *self)
{
	unsigned number;

	pthread_mutex_lock(&self->lock);
	number = self->count++;
	pthread_mutex_unlock(&self->lock);
	return number;
}

/* A member with a recorder, not in the list yet. */
static struct member *new_member(struct family *self, pid_t pid, struct err *err)
{
	struct recorder_options options = { .session = session_of(self),
					    .trace.domains = self->options.domains,
					    .version = LIMPET_VERSION,
					    .variables = self->options.variables };
	struct member *member = calloc(1, sizeof(*member));
	unsigned number = take_number(self);

	if (member &&
	    asprintf(&member->path, "%s/%d-%u.limpet", self->options.folder, pid, number) < 0)
		member->path = NULL;
	if (!member || !member->path) {
		free(member);
		err_set(err, -ENOMEM, "memory for the recording");
		return NULL;
	}
	member->pid = pid;
	options.path = member->path;
	if (!recorder_open(&member->recorder, pid, &options, err))
		return member;
	free_member(member, false);
	return NULL;
}

static void add(struct family *self, struct member *member)
{
	pthread_mutex_lock(&self->lock);
	member->next = self->members;
	self->members = member;
	pthread_mutex_unlock(&self->lock);
}

/* The one that is there now, not its predecessors of the same number. */
static struct member *find(const struct family *self, pid_t pid)
{
	struct member *member = self->members;

	while (member && (member->pid != pid || member->state >= MEMBER_OVER))
		member = member->next;
	return member;
}

static struct member *find_locked(struct family *self, pid_t pid)
{
	struct member *member;

	pthread_mutex_lock(&self->lock);
	member = find(self, pid);
	pthread_mutex_unlock(&self->lock);
	return member;
}

static void set_state(struct family *self, struct member *member, enum member_state state)
{
	pthread_mutex_lock(&self->lock);
	member->state = state;
	pthread_mutex_unlock(&self->lock);
}

static enum member_state state_of(struct family *self, const struct member *member)
{
	enum member_state state;

	pthread_mutex_lock(&self->lock);
	state = member->state;
	pthread_mutex_unlock(&self->lock);
	return state;
}

/* While nobody looked its number may have come to another process. */
static bool has_ended(const struct member *member)
{
	struct pollfd ended = { recorder_pidfd(member->recorder), POLLIN, 0 };

	return ended.fd >= 0 && poll(&ended, 1, 0) == 1;
}

static int prepare(void *context, pid_t pid, struct session_options *options, struct err *err)
{
	struct family *self = context;
	struct member *member = find_locked(self, pid);

	if (member && has_ended(member)) {
		set_state(self, member, MEMBER_OVER);
		member = NULL;
	}
	if (!member) {
		member = new_member(self, pid, err);
		if (!member)
			return err->code;
		add(self, member);
	}
	set_state(self, member, MEMBER_TRIED);
	options->trace = recorder_lend(member->recorder);
	return 0;
}

static void remove_member(struct family *self, struct member *member)
{
	struct member **link = &self->members;

	pthread_mutex_lock(&self->lock);
	while (*link != member)
		link = &(*link)->next;
	*link = member->next;
	pthread_mutex_unlock(&self->lock);
	free_member(member, false);
}

static void failed(void *context, pid_t pid)
{
	struct family *self = context;
	struct member *member = find_locked(self, pid);

	if (member && !member->was_in)
		remove_member(self, member);
	else if (member)
		set_state(self, member, MEMBER_OVER);
}

/* What was asked for and is not there, or not all of it, as far as we can see. */
static void tell_absent(const struct family *self, const struct member *member)
{
	bool is_root = member->pid == self->options.root;
	uint32_t absent = recorder_absent(member->recorder);

	for (unsigned i = 0; i < DOMAINS; i++) {
		const char *why = recorder_note(member->recorder, i);
		bool is_absent = absent & 1u << i;

		if (is_absent || why)
			face_say(self->options.face, is_root ? SAY_WARNING : SAY_INFO,
				 "%s for %s in process %d%s%s",
				 is_absent ? "nothing to trace" : "not all is traced",
				 domain_name(i), member->pid, why ? ": " : "", why ? why : "");
	}
}

static void note_in(struct family *self, struct member *member)
{
	if (!member->was_in)
		tell_absent(self, member);
	pthread_mutex_lock(&self->lock);
	member->state = MEMBER_IN;
	member->was_in = true;
	pthread_mutex_unlock(&self->lock);
}

static void tell_left(const struct family *self, const struct session_left *left)
{
	for (size_t i = 0; left && i < left->count; i++)
		face_say(self->options.face, SAY_WARNING, "stays: %s", left->items[i]);
}

static bool may_come_again(const char *reason)
{
	static const char *const final[] = { "exit", "exec", "agent" };

	for (size_t i = 0; i < ARRAY_SIZE(final); i++)
		if (!strcmp(reason, final[i]))
			return false;
	return true;
}

static void listen(const struct tree_event *event, void *context)
{
	struct family *self = context;
	struct member *member = find_locked(self, event->pid);

	if (event->kind == TREE_SKIPPED && event->err)
		face_say_error(self->options.face, SAY_WARNING, event->err);
	if (event->kind == TREE_ATTACHED && member)
		note_in(self, member);
	if (event->kind != TREE_LEFT)
		return;
	if (member)
		set_state(self, member, may_come_again(event->reason) ? MEMBER_OUT : MEMBER_OVER);
	tell_left(self, event->left);
	if (event->err)
		face_say_error(self->options.face, SAY_WARNING, event->err);
}

static int begin_tree(struct family *self, struct err *err)
{
	struct session_options session = session_of(self);
	struct tree_options options = { .session = &session,
					.listen = listen,
					.context = self,
					.prepare = prepare,
					.failed = failed };

	return tree_open(&self->tree, self->options.root, &options, err);
}

static int begin_one(struct family *self, struct err *err)
{
	struct member *member = find(self, self->options.root);
	int r;

	if (!member) {
		member = new_member(self, self->options.root, err);
		if (!member)
			return err->code;
		add(self, member);
	}
	r = recorder_begin(member->recorder, err);
	if (!r)
		note_in(self, member);
	return r;
}

int family_begin(struct family *self, struct err *err)
{
	return self->options.has_children ? begin_tree(self, err) : begin_one(self, err);
}

static int pause_one(struct family *self, struct err *err)
{
	struct member *member = find(self, self->options.root);
	struct session_left left = { 0 };
	int r;

	if (!member || member->state != MEMBER_IN)
		return 0;
	r = recorder_pause(member->recorder, /* unload */ false, &left, err);
	set_state(self, member, MEMBER_OUT);
	tell_left(self, &left);
	return r;
}

int family_pause(struct family *self, struct err *err)
{
	int r;

	if (!self->options.has_children)
		return pause_one(self, err);
	if (!self->tree)
		return 0;
	r = tree_leave(self->tree, /* unload */ false, "asked", err);
	tree_close(self->tree);
	self->tree = NULL;
	return r;
}

static void tell_lost(const struct family *self, const struct member *member,
		      const struct work_left *left)
{
	uint64_t dropped = drops_sum(member->outcome.totals.drops);

	if (dropped)
		face_say(self->options.face, SAY_WARNING,
			 "%" PRIu64 " records of process %d were dropped: it called too fast",
			 dropped, member->pid);
	if (left->cut + left->lost)
		face_say(self->options.face, SAY_WARNING,
			 "%" PRIu32 " commands of process %d were not done in time, %" PRIu32
			 " could not be followed",
			 left->cut, member->pid, left->lost);
	if (left->unseen)
		face_say(self->options.face, SAY_WARNING,
			 "%" PRIu32
			 " kernels and copies of HSA of process %d are not in the files: "
			 "it has not looked at their signals before the end",
			 left->unseen, member->pid);
}

static int end_member(struct family *self, struct member *member, struct err *err)
{
	struct work_left left = recorder_work_left(member->recorder);
	struct recorder *recorder = member->recorder;

	member->recorder = NULL;
	if (recorder_end(recorder, /* gives_up */ false, &member->outcome, err))
		return err_while(err, "record process %d", member->pid);
	tell_lost(self, member, &left);
	return 0;
}

static int check_member(struct family *self, struct member *member, struct err *err)
{
	switch (state_of(self, member)) {
	case MEMBER_OVER:
		set_state(self, member, MEMBER_ENDED);
		return end_member(self, member, err);
	case MEMBER_IN:
		return recorder_check(member->recorder, err);
	default:
		return 0;
	}
}

/* Members are only ever taken away while they are tried: what was in stays in the list. */
static struct member *first_steady(struct family *self, struct member *after)
{
	struct member *member;

	pthread_mutex_lock(&self->lock);
	member = after ? after->next : self->members;
	while (member && !member->was_in)
		member = member->next;
	pthread_mutex_unlock(&self->lock);
	return member;
}

int family_check(struct family *self, struct err *err)
{
	int r = 0;

	for (struct member *member = first_steady(self, NULL); member && !r;
	     member = first_steady(self, member))
		r = check_member(self, member, err);
	return r;
}

int family_end(struct family *self, struct err *err)
{
	struct err second = { 0 };
	int r = 0;

	for (struct member *member = self->members; member; member = member->next)
		if (member->recorder && member->was_in &&
		    end_member(self, member, r ? &second : err))
			r = err->code;
	return r;
}

/* Counts from the other end of the list: the first that was attached comes first. */
bool family_record(const struct family *self, size_t number, struct family_record *ret)
{
	size_t count = 0;

	for (const struct member *member = self->members; member; member = member->next)
		count += member->was_in;
	if (number >= count)
		return false;
	for (const struct member *member = self->members; member; member = member->next)
		if (member->was_in && --count == number) {
			*ret = (struct family_record){ member->pid, member->path,
						       member->outcome.written.records };
			return true;
		}
	return false;
}

void family_free(struct family *self, bool keeps_files)
{
	if (!self)
		return;
	tree_close(self->tree);
	while (self->members) {
		struct member *member = self->members;

		self->members = member->next;
		free_member(member, keeps_files);
	}
	pthread_mutex_destroy(&self->lock);
	free(self);
}
