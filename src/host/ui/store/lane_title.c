/*
 * Names lanes of devices.
 */
#include "host/ui/store/lane_title.h"

#include "host/core/text/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static uint64_t value_or_0(const struct call *call, enum value_kind kind)
{
	uint64_t value = 0;

	call_value(call, kind, &value);
	return value;
}

static const struct agent *agent_find(struct work_tracks *tracks, const struct call *call,
				      enum value_kind kind)
{
	bool is_new;

	return agents_find(&tracks->agents[call->process->number], value_or_0(call, kind), &is_new);
}

static int kernel_title(struct work_tracks *tracks, const struct call *call, char *ret, size_t room)
{
	uint64_t number = value_or_0(call, VALUE_QUEUE);
	const char *queue = names_find(&call->process->names, NAME_QUEUE, number);
	const struct agent *agent = agent_find(tracks, call, VALUE_DEVICE);

	if (!agent)
		return -ENOMEM;
	if (queue[0])
		print_into(ret, room, "%s %u %s", agent_type(agent), agent->type_index, queue);
	else
		snprintf(ret, room, "%s %u queue %" PRIu64, agent_type(agent), agent->type_index,
			 number);
	return 0;
}

/* A copy to the host is work of the source device. */
static int copy_title(struct work_tracks *tracks, const struct call *call, char *ret, size_t room)
{
	const struct agent *to = agent_find(tracks, call, VALUE_DEVICE), *of = to;
	bool is_to_host = to && to->is_cpu;

	if (is_to_host)
		of = agent_find(tracks, call, VALUE_FROM_DEVICE);
	if (!of)
		return -ENOMEM;
	snprintf(ret, room, "%s %u copies%s of thread %" PRIu64, agent_type(of), of->type_index,
		 is_to_host && !of->is_cpu ? " to the host" : "", value_or_0(call, VALUE_THREAD));
	return 0;
}

int lane_title_work(struct work_tracks *tracks, const struct call *call, uint32_t track, char *ret,
		    size_t room)
{
	if (call->function->domain == DOMAIN_KERNEL)
		return kernel_title(tracks, call, ret, room);
	if (call->function->domain == DOMAIN_COPY)
		return copy_title(tracks, call, ret, room);
	snprintf(ret, room, "%s", tracks->items[track].name);
	return 0;
}
