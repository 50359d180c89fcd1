/*
 * Tracks under the names of AMD's tool, and two that only limpet writes, for device memory.
 */
#include "host/export/trace/work_tracks.h"

#include "host/core/room.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What distinguishes tracks of a domain, besides the device. */
static const struct track_words {
	const char *head;
	enum value_kind second;
} track_words[DOMAINS] = {
	[DOMAIN_KERNEL] = { "COMPUTE", VALUE_QUEUE },
	[DOMAIN_COPY] = { "COPY to", VALUE_THREAD },
	[DOMAIN_MEMORY] = { "MEMORY of", VALUE_NONE },
	[DOMAIN_SCRATCH] = { "SCRATCH of", VALUE_NONE },
};

int work_tracks_init(struct work_tracks *ret, const struct model *model,
		     enum agent_index agent_index, bool is_by_stream)
{
	*ret = (struct work_tracks){ .model = model,
				     .agent_index = agent_index,
				     .is_by_stream = is_by_stream,
				     .agents = agents_new(model, /* only */ NULL) };
	return ret->agents ? 0 : -ENOMEM;
}

void work_tracks_done(struct work_tracks *tracks)
{
	if (tracks->agents)
		agents_free(tracks->agents, tracks->model);
	free(tracks->items);
	table_done(&tracks->by_owner);
	*tracks = (struct work_tracks){ 0 };
}

int work_tracks_agent(struct work_tracks *tracks, const struct model_process *process,
		      uint64_t device, char *ret, size_t room, const char **ret_type)
{
	const struct agent *agent = agents_find(tracks->agents, process, device);

	if (!agent)
		return -ENOMEM;
	*ret_type = agent_type(agent);
	if (tracks->agent_index == AGENT_TYPE_RELATIVE)
		snprintf(ret, room, "%s [%u]", *ret_type, agent->type_index);
	else
		snprintf(ret, room, "Agent [%" PRIu64 "]", agent->number);
	return 0;
}

/* The number that distinguishes tracks of one device. */
static uint64_t second_number(const struct call *call)
{
	enum value_kind kind = track_words[call->function->domain].second;

	return kind == VALUE_NONE ? 0 : call_number(call, kind);
}

/* Threads by their index in the process, as in AMD's tool. */
static uint64_t thread_index(const struct model *model, const struct model_process *process,
			     uint64_t tid)
{
	uint64_t index = 0;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		if (model->threads[i]->process != process)
			continue;
		if ((uint64_t)model->threads[i]->tid == tid)
			return index;
		index++;
	}
	return tid;
}

/* For freed memory the device is often unknown. */
static bool has_no_device(const struct call *call)
{
	uint64_t operation = call_number(call, VALUE_OPERATION);

	return call->function->domain == DOMAIN_MEMORY && !call_number(call, VALUE_DEVICE) &&
	       (operation == MEMORY_FREE || operation == MEMORY_VIRTUAL_FREE);
}

static int name_track(struct work_tracks *tracks, const struct call *call, struct work_track *track)
{
	unsigned domain = call->function->domain;
	uint64_t second = second_number(call);
	const char *type, *words = track_words[domain].head;
	const char *head = words ? words : domain_name(domain);
	char agent[64];
	int r = work_tracks_agent(tracks, call->process, call_number(call, VALUE_DEVICE), agent,
				  sizeof(agent), &type);

	if (r)
		return r;
	if (has_no_device(call))
		snprintf(track->name, sizeof(track->name), "MEMORY given back");
	else if (domain == DOMAIN_KERNEL)
		snprintf(track->name, sizeof(track->name), "%s %s QUEUE [%" PRIu64 "] %s", head,
			 agent, second, type);
	else if (domain == DOMAIN_COPY)
		snprintf(track->name, sizeof(track->name),
			 "%s AGENT [%" PRIu64 "] THREAD [%" PRIu64 "] (%s)", head,
			 call_number(call, VALUE_DEVICE),
			 thread_index(tracks->model, call->process, second), type);
	else
		snprintf(track->name, sizeof(track->name), "%s %s (%s)", head, agent, type);
	return 0;
}

static int work_tracks_add(struct work_tracks *tracks, const struct call *call, bool is_stream)
{
	struct work_track *track;

	if (make_room(&tracks->items, tracks->count, &tracks->room, sizeof(*tracks->items)))
		return -ENOMEM;
	track = &tracks->items[tracks->count++];
	*track = (struct work_track){ .process = call->process };
	if (!is_stream)
		return name_track(tracks, call, track);
	snprintf(track->name, sizeof(track->name), "STREAM [%" PRIu64 "]",
		 call_number(call, VALUE_STREAM));
	return 0;
}

/* The lane of a copy to the host: its source's. */
#define TO_HOST 0x80u

static uint64_t track_device(const struct work_tracks *tracks, const struct call *call,
			     unsigned *domain)
{
	uint64_t device = call_number(call, VALUE_DEVICE);

	if (has_no_device(call))
		return UINT32_MAX;
	if (device || *domain != DOMAIN_COPY || !tracks->is_by_source)
		return device;
	*domain |= TO_HOST;
	return call_device(call);
}

int work_tracks_find(struct work_tracks *tracks, const struct call *call, uint32_t *ret_number,
		     bool *ret_is_new)
{
	unsigned domain = call->function->domain;
	bool is_stream = tracks->is_by_stream && (domain == DOMAIN_KERNEL || domain == DOMAIN_COPY);
	uint64_t second = is_stream ? call_number(call, VALUE_STREAM) : second_number(call);
	uint64_t device = is_stream ? 0 : track_device(tracks, call, &domain);
	uint64_t owner = (uint64_t)call->process->number << 8 | (is_stream ? 0 : domain);
	bool is_full = tracks->max && tracks->count >= tracks->max;
	struct table_entry *entry;
	int r;

	*ret_is_new = false;
	entry = is_full ? table_find(&tracks->by_owner, owner, device << 32 ^ second)
			: table_make(&tracks->by_owner, owner, device << 32 ^ second, ret_is_new);
	r = entry ? 0 : is_full ? -EFBIG : -ENOMEM;
	if (!r && *ret_is_new) {
		r = work_tracks_add(tracks, call, is_stream);
		entry->value = tracks->count;
	}
	if (!r)
		*ret_number = (uint32_t)entry->value - 1;
	return r;
}
