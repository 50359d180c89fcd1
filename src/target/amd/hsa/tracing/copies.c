/*
 * Traces copies. Runs on application threads, around the calls that start copies.
 */
#include "target/amd/events/events.h"
#include "target/amd/hsa/agents.h"
#include "target/amd/hsa/tracing/tracing.h"
#include "target/hooks/clock.h"

static enum copy_direction direction_of(uint64_t to, uint64_t from)
{
	if (to == DEVICE_NONE || from == DEVICE_NONE)
		return COPY_UNKNOWN;
	if (!to)
		return from ? COPY_DEVICE_TO_HOST : COPY_UNKNOWN;
	return from ? COPY_DEVICE_TO_DEVICE : COPY_HOST_TO_DEVICE;
}

static void note_copy(struct call_frame *frame, uint64_t signal, struct hsa_command *command)
{
	uint64_t token;

	command->domain = DOMAIN_COPY;
	command->asked = clock_ticks();
	command->thread = (uint64_t)frame->thread->number;
	command->cause = frame->begin;
	if (!command->asked) {
		events_lose();
		return;
	}
	token = signal ? pending_hold(signal) : 0;
	if (token && hsa_follow_signal(command, signal, token))
		frame->kept[0] = signal;
	else
		hsa_note_lost();
}

/* (to, agent, from, agent, size, count, signals, signal) */
void hsa_before_copy(struct call_frame *frame)
{
	struct hsa_command command = { .to = frame->integers[0],
				       .from = frame->integers[2],
				       .size = frame->integers[4] };

	frame->kept[0] = 0;
	if (!hsa_is_traced(DOMAIN_COPY))
		return;
	(void)agents_ask();
	command.device = agent_device(frame->integers[1]);
	command.from_device = agent_device(frame->integers[3]);
	command.direction = direction_of(command.device, command.from_device);
	note_copy(frame, call_argument(frame, 7), &command);
}

/* (to, its offset, from, its offset, range, agent, direction, count, signals, signal) */
void hsa_before_rect(struct call_frame *frame)
{
	static const uint8_t directions[] = { COPY_UNKNOWN, COPY_HOST_TO_DEVICE,
					      COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE };
	uint32_t direction = (uint32_t)call_argument(frame, 6);
	const uint32_t *range = (const uint32_t *)call_argument(frame, 4);
	struct hsa_command command = { 0 };

	frame->kept[0] = 0;
	if (!hsa_is_traced(DOMAIN_COPY) || !range)
		return;
	(void)agents_ask();
	command.device = command.from_device = agent_device(frame->integers[5]);
	command.size = (uint64_t)range[0] * range[1] * range[2];
	command.direction =
		direction < ARRAY_SIZE(directions) ? directions[direction] : COPY_UNKNOWN;
	if (command.direction == COPY_HOST_TO_DEVICE)
		command.from_device = 0;
	if (command.direction == COPY_DEVICE_TO_HOST)
		command.device = 0;
	note_copy(frame, call_argument(frame, 9), &command);
}

void hsa_after_copy(struct call_frame *frame, uint64_t end)
{
	(void)end;
	if (frame->kept[0] && call_has_failed(frame))
		(void)pending_cancel(frame->kept[0], frame->begin);
}
