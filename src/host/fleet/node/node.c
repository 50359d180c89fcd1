/*
 * The node part from its beginning to its end.  Other threads work; the main thread watches the
 * time and stdin, so that no hanging call can block it.
 */
#include "host/fleet/node/node.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/print.h"
#include "host/core/text/secrets.h"
#include "host/core/threads/thread_state.h"
#include "host/fleet/node/node_private.h"
#include "host/process/cgroup.h"
#include "host/process/inspect/attachable.h"
#include "host/process/inspect/process.h"
#include "host/process/procfs.h"
#include "host/recorder/samples/sampling.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#define REASONS_MAX 1024u

struct description {
	char command[256], user[64], reasons[REASONS_MAX], refusal[256];
};

static void command_read(pid_t pid, char *ret, size_t room)
{
	struct err ignored = { 0 };
	ssize_t size = proc_read_small(pid, "cmdline", ret, room, &ignored);

	if (size > 0)
		size = (ssize_t)secrets_hide(ret, (size_t)size);
	ret[MAX(size, 0)] = '\0';
	for (ssize_t i = 0; i + 1 < size; i++)
		if (!ret[i])
			ret[i] = ' ';
}

static void attach_judge(pid_t pid, struct description *ret)
{
	CLEANUP(process_done) struct process process = { 0 };
	struct err err = { 0 };

	if (process_read(pid, &process, &err))
		snprintf(ret->refusal, sizeof(ret->refusal), "%s", err.what);
	else if (process_judge(&process, &err))
		snprintf(ret->refusal, sizeof(ret->refusal), "%s", process_refusal(&process, &err));
}

/* A task frozen by its control group may be in any state by /proc. */
static unsigned char state_find(pid_t pid, const struct process_status *status)
{
	struct cgroup cgroup;

	if (status->state == 'Z' || status->state == 'X')
		return (unsigned char)status->state;
	cgroup_read(pid, &cgroup);
	return cgroup.frozen[0] ? STATE_FROZEN : (unsigned char)status->state;
}

void node_describe(struct node *self, size_t index, bool is_whole)
{
	const struct found_rank *rank = &self->ranks.items[index];
	struct process_status status = { 0 };
	struct description description = { 0 };
	struct sampling_trial trial = { 0 };
	struct bytes message = { 0 };
	struct err ignored = { 0 };
	unsigned char state = 0;
	struct users users;

	if (rank->left_out != RANK_IS_GONE &&
	    !status_read(rank->pid, rank->pid, &status, &ignored)) {
		command_read(rank->pid, description.command, sizeof(description.command));
		users_init(&users);
		users_name(&users, status.euid, description.user, sizeof(description.user));
		users_done(&users);
		state = state_find(rank->pid, &status);
		if (is_whole) {
			sampling_try(rank->pid, &trial);
			snprintf(description.reasons, sizeof(description.reasons), "%s",
				 trial.reasons);
			attach_judge(rank->pid, &description);
		}
	}
	rank_put(&message, &(struct rank_message){ .pid = (uint32_t)rank->top,
						   .process = (uint32_t)rank->pid,
						   .rank = rank->number,
						   .size = rank->size,
						   .variable = self->ranks.variable,
						   .program = rank->name,
						   .command = description.command,
						   .user = description.user,
						   .through = rank->through,
						   .threads = status.threads,
						   .process_state = state,
						   .sampler = trial.kind ? trial.kind->name : "",
						   .sampler_reasons = description.reasons,
						   .refusal = description.refusal });
	channel_send(&self->channel, &message);
	bytes_done(&message);
}

static void ps_work(void *context, struct rank_queue *queue, size_t index)
{
	struct node *self = context;

	if (!self->ranks.items[index].left_out)
		node_describe(self, index, /* is_whole */ true);
	if (!rank_queue_finish(queue, index))
		return;
	if (!self->ranks.items[index].left_out)
		node_tell_state(self, index, RANK_DONE, "");
	rank_queue_release(queue);
}

void node_ps(struct node *self)
{
	struct rank_queue *queue =
		node_visit(self, self->ranks.count, self->request.rank_limit_ns, ps_work, self);

	for (size_t i = 0; queue && i < self->ranks.count; i++)
		if (rank_queue_is_missing(queue, i))
			node_tell_missing(self, i);
}

#define FIND_LIMIT_NS 8000000000ull
#define LOOK_NS       100000000ull
#define LINGER_NS     500000000ull /* some launchers lose a program's last output */

const char *node_name(const struct node *self)
{
	static struct utsname system;
	const char *slurm = secure_getenv("SLURMD_NODENAME");

	if (self->request.node && *self->request.node)
		return self->request.node;
	uname(&system);
	return slurm && *slurm ? slurm : system.nodename;
}

static void node_greet(struct node *self)
{
	struct bytes message = { 0 };
	struct utsname system = { 0 };
	struct timex timex = { 0 };
	int state = adjtimex(&timex); /* the kernel's clock state, which needs no right */
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	bool is_synchronized = state >= 0 && state != TIME_ERROR && !(timex.status & STA_UNSYNC);

	uname(&system);
	hello_put(&message, &(struct hello_message){
				    .protocol = FLEET_PROTOCOL,
				    .version = self->version,
				    .node = node_name(self),
				    .machine = system.machine,
				    .kernel = system.release,
				    .boot_ns = boot_now_ns(),
				    .real_ns = clock_read_ns(CLOCK_REALTIME),
				    .clock_error_ns = state >= 0 && timex.maxerror > 0
							      ? (uint64_t)timex.maxerror * 1000
							      : 0,
				    .is_synchronized = is_synchronized,
				    .processors = processors > 0 ? (uint32_t)processors : 1,
			    });
	channel_send(&self->channel, &message);
	bytes_done(&message);
}

void node_note(struct node *self, const char *format, ...)
{
	struct bytes message = { 0 };
	va_list arguments;
	char text[512];

	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	note_put(&message, &(struct note_message){ text });
	channel_send(&self->channel, &message);
	bytes_done(&message);
}

void node_tell_state(struct node *self, size_t rank, enum rank_state state, const char *reason)
{
	struct bytes message = { 0 };

	state_put(&message,
		  &(struct state_message){ (uint32_t)self->ranks.items[rank].top, state, reason });
	channel_send(&self->channel, &message);
	bytes_done(&message);
}

void node_tell_error(struct node *self, size_t rank, const struct err *err)
{
	enum rank_state state = RANK_CUT;
	char text[640];

	if (err->code == -ESRCH || err->exit == EXIT_NO_PROCESS)
		state = RANK_ENDED;
	else if (err->code == -EACCES || err->code == -EPERM || err->exit == EXIT_NOT_PERMITTED ||
		 err->exit == EXIT_NOT_ATTACHABLE || err->exit == EXIT_BUSY)
		state = RANK_REFUSED;
	print_into(text, sizeof(text), "%s%s%s", err->what, *err->why ? ": " : "", err->why);
	node_tell_state(self, rank, state, text);
}

void node_tell_missing(struct node *self, size_t rank)
{
	node_tell_state(self, rank, RANK_NO_ANSWER,
			node_shall_stop(self)
				? "stopped before its turn came"
				: "reading it took too long: it hangs, or its node is too busy");
}

static void lifeline_read(struct lifeline *self)
{
	char bytes[256];
	ssize_t got = read(self->fd, bytes, sizeof(bytes));

	if (got > 0)
		self->is_greeted = true;
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		self->has_ended = true;
}

bool lifeline_wait(struct lifeline *self, int other, uint64_t until_ns)
{
	struct pollfd fds[] = { { self->has_ended ? -1 : self->fd, POLLIN, 0 },
				{ other, POLLIN, 0 } };
	uint64_t now = now_ns();
	int wait_ms = now >= until_ns ? 0 : (int)MIN((until_ns - now) / 1000000 + 1, 3600000);

	poll(fds, ARRAY_SIZE(fds), wait_ms);
	if (fds[0].revents)
		lifeline_read(self);
	return fds[1].revents;
}

bool node_shall_stop(struct node *self)
{
	return (self->lifeline.has_ended && self->lifeline.is_greeted) ||
	       now_ns() >= self->until_ns || channel_is_broken(&self->channel);
}

struct rank_queue *node_visit(struct node *self, size_t count, uint64_t limit_ns, rank_work *work,
			      void *context)
{
	struct rank_queue *queue;
	eventfd_t ignored;

	if (rank_queue_start(&queue, count, limit_ns, work, context))
		return NULL;
	while (rank_queue_look(queue)) {
		if (lifeline_wait(&self->lifeline, queue->changed, now_ns() + LOOK_NS))
			eventfd_read(queue->changed, &ignored);
		if (node_shall_stop(self))
			rank_queue_stop(queue);
	}
	return queue;
}

static void find_work(void *context, struct rank_queue *queue, size_t index)
{
	struct node *self = context;
	struct found_ranks found = { 0 };
	struct err err = { 0 };
	int r = ranks_find(&found, &self->request.find, &err);

	if (!rank_queue_finish(queue, index))
		return;
	self->ranks = found;
	if (r)
		self->trouble = err;
	rank_queue_release(queue);
}

static void node_find(struct node *self)
{
	struct rank_queue *queue = node_visit(self, 1, FIND_LIMIT_NS, find_work, self);
	const struct found_ranks *ranks = &self->ranks;
	const struct zombies *zombies = &ranks->zombies;
	/* Processes without a number are in the list only if none has one. */
	bool have_numbers = !ranks->count || ranks->items[0].left_out != RANK_HAS_NO_NUMBER;

	if (!queue || rank_queue_is_missing(queue, 0))
		node_note(self, "the processes of this node cannot be read: one of them hangs");
	else if (self->trouble.code)
		node_note(self, "%s%s%s", self->trouble.what, *self->trouble.why ? ": " : "",
			  self->trouble.why);
	else if (ranks->unnumbered && have_numbers)
		node_note(self,
			  "--ranks left out %zu process%s to which no variable gives a rank number",
			  ranks->unnumbered, ranks->unnumbered == 1 ? "" : "es");
	if (zombies->count)
		node_note(self,
			  "%zu process%s called %s %s ended, and a missing rank may be among them: "
			  "process %d is a zombie that its parent, %d, has not collected",
			  zombies->count, zombies->count == 1 ? "" : "es", zombies->name,
			  zombies->count == 1 ? "has" : "have", zombies->first, zombies->parent);
	if (ranks->is_live)
		node_note(self, "ranks are those of %s in memory, which was set after the start",
			  ranks->variable);
}

static void (*const actions[FLEET_ACTIONS])(struct node *node) = {
	[FLEET_PS] = node_ps,
	[FLEET_DUMP] = node_dump,
	[FLEET_RECORD] = node_record,
	[FLEET_TOP] = node_top,
};

static const struct {
	enum rank_state state;
	const char *reason;
} left_out[] = {
	[RANK_IS_GONE] = { RANK_ENDED, "there is no such process any more" },
	[RANK_IS_FOREIGN] = { RANK_REFUSED,
			      "the process belongs to another user than the launcher or job" },
	[RANK_HAS_NO_NUMBER] = { RANK_REFUSED, "no variable gives this process a rank number" },
};

static void node_work(struct node *self)
{
	node_find(self);
	for (size_t i = 0; i < self->ranks.count; i++) {
		enum rank_left_out why = self->ranks.items[i].left_out;

		node_describe(self, i, /* is_whole */ false);
		if (why)
			node_tell_state(self, i, left_out[why].state, left_out[why].reason);
	}
	actions[self->request.action](self);
}

/* Removes its own copy; a limpet with more rights than its user is never a copy, whatever the
 * user's request. */
static void node_remove_itself(void)
{
	char path[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size <= 0 || getauxval(AT_SECURE))
		return;
	path[size] = '\0';
	unlink(path);
}

enum exit_code node_run(const char *request, const char *version)
{
	/* Never freed: one of its threads may be stuck when the process ends. */
	static struct node node;
	struct err err = { 0 };
	uint64_t until_ns;
	bool is_told;
	int r;

	signal(SIGPIPE, SIG_IGN);
	node = (struct node){ .version = version, .lifeline = { .fd = STDIN_FILENO } };
	channel_init(&node.channel, STDOUT_FILENO);
	r = request_read(&node.request, request ? request : "", &err);
	node.until_ns = now_ns() + (r ? LINGER_NS : node.request.limit_ns);
	if (!r && node.request.is_copy)
		node_remove_itself();
	node_greet(&node);
	if (r)
		node_note(&node, "%s", err.what);
	else
		node_work(&node);
	channel_end(&node.channel);
	/* Stays until home has read everything.  If home requested the end before, or is silent, a
	 * fixed time must do. */
	is_told = !node.lifeline.has_ended;
	until_ns = is_told ? node.until_ns : now_ns() + LINGER_NS;
	while (now_ns() < until_ns && !(is_told && node.lifeline.has_ended))
		lifeline_wait(&node.lifeline, -1, until_ns);
	return r ? EXIT_FAILED : EXIT_DONE;
}
