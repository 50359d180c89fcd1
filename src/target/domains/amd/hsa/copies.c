/*
 * Traces copies. Runs on application threads, around the calls that start copies.
 */
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/hsa/work_private.h"
#include "target/domains/work.h"
#include "target/hooks/thread.h"

static enum copy_direction direction_of(uint64_t to, uint64_t from)
{
	if (to == DEVICE_UNKNOWN || from == DEVICE_UNKNOWN)
		return COPY_UNKNOWN;
	if (!to)
		return from ? COPY_DEVICE_TO_HOST : COPY_UNKNOWN;
	return from ? COPY_DEVICE_TO_DEVICE : COPY_HOST_TO_DEVICE;
}

static void note_copy(struct hook_around *around, uint64_t signal, struct hsa_command *command)
{
	uint64_t token;

	command->domain = DOMAIN_COPY;
	command->asked = clock_ticks();
	command->thread = (uint64_t)thread_number();
	command->cause = around->frame.begin;
	if (!command->asked) {
		writer_lose();
		return;
	}
	token = signal ? pending_hold(signal) : 0;
	if (token && hsa_follow_signal(command, signal, token))
		around->kept[0] = signal;
	else
		hsa_note_lost();
}

/* (to, agent, from, agent, size, count, signals, signal) */
void hsa_before_copy(struct hook_around *around, uint64_t *window)
{
	const struct hook_frame *frame = &around->frame;
	struct hsa_command command = { .to = frame->arguments[0],
				       .from = frame->arguments[2],
				       .device = agents_of_agent(frame->arguments[1]),
				       .from_device = agents_of_agent(frame->arguments[3]),
				       .size = frame->arguments[4] };

	(void)window;
	if (!hsa_is_seen(DOMAIN_COPY))
		return;
	command.direction = direction_of(command.device, command.from_device);
	note_copy(around, hook_argument(frame, 7), &command);
}

/* (to, its offset, from, its offset, range, agent, direction, count, signals, signal) */
void hsa_before_rect(struct hook_around *around, uint64_t *window)
{
	static const uint8_t directions[] = { COPY_UNKNOWN, COPY_HOST_TO_DEVICE,
					      COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE };
	const struct hook_frame *frame = &around->frame;
	uint32_t direction = (uint32_t)hook_argument(frame, 6);
	uint64_t device = agents_of_agent(frame->arguments[5]);
	const uint32_t *range = (const uint32_t *)hook_argument(frame, 4);
	struct hsa_command command = { .device = device, .from_device = device };

	(void)window;
	if (!hsa_is_seen(DOMAIN_COPY) || !range)
		return;
	command.size = (uint64_t)range[0] * range[1] * range[2];
	command.direction =
		direction < ARRAY_SIZE(directions) ? directions[direction] : COPY_UNKNOWN;
	if (command.direction == COPY_HOST_TO_DEVICE)
		command.from_device = 0;
	if (command.direction == COPY_DEVICE_TO_HOST)
		command.device = 0;
	note_copy(around, hook_argument(frame, 9), &command);
}

void hsa_after_copy(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (around->kept[0] && (int32_t)around->frame.results[0])
		(void)pending_cancel(around->kept[0], around->frame.begin);
}
