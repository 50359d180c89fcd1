/*
 * Queries the times of completed commands, and writes their records. Runs on application threads,
 * around their HSA calls, and on the runtime's thread that calls signal handlers.
 */
#include "target/domains/amd/counters/counters.h"
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/hsa/work_private.h"
#include "target/domains/work.h"
#include "target/runtime/hsa_gate.h"

static bool have_copy_times;

static void write_kernel(struct writer *writer, const struct hsa_command *command, uint64_t begin,
			 uint64_t end)
{
	const uint64_t values[] = {
		command->name,     command->device,        command->queue,       0,
		command->thread,   command->cause,         command->dispatch,    command->grid[0],
		command->grid[1],  command->grid[2],       command->group[0],    command->group[1],
		command->group[2], command->private_bytes, command->group_bytes,
	};

	(void)work_write(writer, DOMAIN_KERNEL, begin, end, values);
}

static void write_copy(struct writer *writer, const struct hsa_command *command, uint64_t begin,
		       uint64_t end)
{
	const uint64_t values[] = {
		command->size,
		command->device,
		command->from_device,
		command->to,
		command->from,
		command->direction,
		0,
		0,
		command->thread,
		command->cause,
	};

	agents_name(writer, command->from_device);
	(void)work_write(writer, DOMAIN_COPY, begin, end, values);
}

struct span {
	uint64_t begin, end; /* in ticks */
};

/* Begin and end of the execution; false: unknown, `ret` keeps the time from request until now. */
static bool span_of(struct writer *writer, const struct hsa_time *time, struct span *ret)
{
	struct clock_rate now;

	if (!time->begin_ns || time->end_ns < time->begin_ns)
		return false;
	now = clock_recent(&writer->clock);
	ret->begin = clock_ticks_at(&now, time->begin_ns);
	ret->end = clock_ticks_at(&now, time->end_ns);
	return true;
}

void hsa_write_done(const struct hsa_command *command, const struct hsa_time *time)
{
	struct span span = { command->asked, clock_ticks() };
	writer_seal seal;
	struct writer *writer = span.end ? writer_begin(&seal) : NULL;
	bool is_timed = false;

	if (!span.end)
		writer_lose();
	if (writer) {
		is_timed = span_of(writer, time, &span);
		if (!command->is_hidden) {
			agents_name(writer, command->device);
			(command->domain == DOMAIN_KERNEL ? write_kernel : write_copy)(
				writer, command, span.begin, span.end);
		}
		writer_end(writer, &seal);
	}
	if (command->counted)
		counters_take_times(command, is_timed ? span.begin : 0, is_timed ? span.end : 0);
}

/* Copies have times only if that is switched on; whether the application has done so shows at the
 * first copy that is seen to end. */
static void ask_copy_time(uint64_t signal, struct hsa_time *ret)
{
	if (!hsa_calls.copy_time(signal, ret))
		return;
	*ret = (struct hsa_time){ 0, 0 };
	if (!__atomic_exchange_n(&have_copy_times, true, __ATOMIC_RELAXED))
		(void)hsa_calls.profile_copies(true);
}

/* A handler is also called during a shutdown of the runtime, when the agent is gone. */
static void ask_time(const struct hsa_command *command, int64_t value, struct hsa_time *ret)
{
	*ret = (struct hsa_time){ 0, 0 };
	/* The signal has been reused since: its times are those of another command. */
	if (value != command->done_at || (command->has_our_signal && !hsa_gate_enter()))
		return;
	if (command->domain == DOMAIN_COPY)
		ask_copy_time(command->signal, ret);
	else if (!command->agent || hsa_calls.dispatch_time(command->agent, command->signal, ret))
		*ret = (struct hsa_time){ 0, 0 };
	if (command->has_our_signal)
		hsa_gate_leave();
}

void hsa_look_at_signal(uint64_t signal, int64_t value)
{
	struct hsa_command command;
	struct hsa_time time;
	uint64_t token;

	while (signal && (token = pending_take(signal, value, &command))) {
		ask_time(&command, value, &time);
		pending_give_back(token);
		hsa_write_done(&command, &time);
		if (command.has_our_signal)
			hsa_discount_ours();
	}
}

static bool ours_is_done(const struct hsa_command *command)
{
	int64_t value = hsa_calls.signal_load(command->signal);
	struct hsa_time time;

	if (value > command->done_at)
		return false;
	ask_time(command, value, &time);
	hsa_write_done(command, &time);
	hsa_discount_ours();
	return true;
}

void hsa_finish_ours(void)
{
	pending_each_ours(ours_is_done);
}

void hsa_look_at_awaited(uint64_t signal)
{
	struct hsa_command any;
	uint64_t token = signal ? pending_take(signal, INT64_MIN, &any) : 0;
	int64_t value;

	if (!token)
		return;
	value = hsa_calls.signal_load(signal);
	(void)pending_put_back(token);
	hsa_look_at_signal(signal, value);
}

void hsa_copy_times_begin(void)
{
	have_copy_times = false;
}

void hsa_copy_times_end(void)
{
	if (have_copy_times)
		(void)hsa_calls.profile_copies(false);
}
