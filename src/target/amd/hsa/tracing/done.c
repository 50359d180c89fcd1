/*
 * Queries the times of completed commands, and writes their records. Runs on application threads,
 * around their HSA calls, and on the runtime's thread that calls signal handlers.
 */
#include "target/amd/counters/counters.h"
#include "target/amd/hsa/functions.h"
#include "target/amd/hsa/tracing/tracing.h"
#include "target/hooks/clock.h"
#include "target/runtime/hsa_gate.h"

static bool have_copy_times;
static uint32_t ours; /* limpet's signals in packets */

void hsa_count_ours(void)
{
	__atomic_fetch_add(&ours, 1, __ATOMIC_RELAXED);
}

/* Stops at 0, because signals of a runtime that was shut down are not counted any more. */
void hsa_discount_ours(void)
{
	uint32_t now = __atomic_load_n(&ours, __ATOMIC_RELAXED);

	while (now && !__atomic_compare_exchange_n(&ours, &now, now - 1, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		;
}

uint32_t hsa_ours(void)
{
	return __atomic_load_n(&ours, __ATOMIC_RELAXED);
}

uint32_t hsa_forget_ours(void)
{
	return __atomic_exchange_n(&ours, 0, __ATOMIC_RELAXED);
}

static struct device_times times_of(const struct hsa_command *command, const struct hsa_time *time)
{
	struct device_times times = { .asked_ticks = command->asked, .seen_ticks = clock_ticks() };

	if (time->begin_ns && time->end_ns >= time->begin_ns) {
		times.begin_ns = time->begin_ns;
		times.end_ns = time->end_ns;
	}
	return times;
}

static void report_copy(const struct hsa_command *command, const struct device_times *times)
{
	events_copy(&(struct copy_event){ .bytes = command->size,
					  .to_device = command->device,
					  .from_device = command->from_device,
					  .to = command->to,
					  .from = command->from,
					  .direction = (enum copy_direction)command->direction,
					  .thread = command->thread,
					  .cause = command->cause,
					  .times = *times });
}

void hsa_report_done(const struct hsa_command *command, const struct hsa_time *time)
{
	struct device_times times = times_of(command, time);
	struct dispatch_event event;

	if (!times.seen_ticks) {
		events_lose();
	} else if (command->domain == DOMAIN_COPY) {
		report_copy(command, &times);
	} else if (!command->is_hidden) {
		event = hsa_kernel_event(command);
		event.times = times;
		events_kernel(&event);
	}
	if (command->counted)
		counters_store_times(command, &times);
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

void hsa_check_signal(uint64_t signal, int64_t value)
{
	struct hsa_command command;
	struct hsa_time time;
	uint64_t token;

	while (signal && (token = pending_acquire(signal, value, &command))) {
		ask_time(&command, value, &time);
		pending_release(token);
		hsa_report_done(&command, &time);
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
	hsa_report_done(command, &time);
	hsa_discount_ours();
	return true;
}

void hsa_finish_ours(void)
{
	pending_each_ours(ours_is_done);
}

void hsa_check_awaited(uint64_t signal)
{
	struct hsa_command any;
	uint64_t token = signal ? pending_acquire(signal, INT64_MIN, &any) : 0;
	int64_t value;

	if (!token)
		return;
	value = hsa_calls.signal_load(signal);
	(void)pending_put_back(token);
	hsa_check_signal(signal, value);
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
