/*
 * The description of a rank before anything is done with it.
 */
#include "host/fleet/node/node_private.h"

#include "host/core/cleanup.h"
#include "host/core/text/secrets.h"
#include "host/core/threads/thread_state.h"
#include "host/process/cgroup.h"
#include "host/process/inspect/attachable.h"
#include "host/process/inspect/process.h"
#include "host/process/procfs.h"
#include "host/recorder/samples/sampling.h"
#include "host/sampling/sampler.h"

#include <stdio.h>

#define REASONS_MAX 1024u

struct description {
	char command[256], user[64], sampler[32], reasons[REASONS_MAX], refusal[256];
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

/* Opened and closed at once: the process is not touched. */
static void sampler_try(pid_t pid, struct description *ret)
{
	const struct sampler_options options = {
		.pid = pid, .hz = SAMPLING_HZ, .on_cpu = true, .kernel_frames = true
	};
	struct sampler_refusals refusals = { 0 };
	struct sampler *sampler = NULL;
	struct err err = { 0 };

	if (!sampler_choose(&sampler, &options, /* name */ NULL, &refusals, &err))
		snprintf(ret->sampler, sizeof(ret->sampler), "%s", sampler->kind->name);
	sampler_explain(&refusals, sampler, ret->reasons, sizeof(ret->reasons));
	sampler_close(sampler);
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
			sampler_try(rank->pid, &description);
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
						   .sampler = description.sampler,
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
