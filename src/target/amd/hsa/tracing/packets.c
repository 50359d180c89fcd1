/*
 * Traces kernels by the packets of queues. Runs on application threads, before they ring a
 * doorbell, and on the runtime's thread that calls signal handlers.
 */
#include "target/amd/counters/counters.h"
#include "target/amd/counters/kernel_sets.h"
#include "target/amd/events/events.h"
#include "target/amd/hsa/agents.h"
#include "target/amd/hsa/code_store.h"
#include "target/amd/hsa/queues.h"
#include "target/amd/hsa/signals.h"
#include "target/amd/hsa/tracing/reserving.h"
#include "target/amd/hsa/tracing/tracing.h"
#include "target/hooks/clock.h"

#define DIMENSIONS_MAX 3u

/* The handler of limpet's signals: the packet was executed. */
static bool on_done(int64_t value, void *data)
{
	uint64_t signal = (uint64_t)data;

	hsa_check_signal(signal, value);
	hsa_signal_give_back(signal);
	return false; /* do not call again */
}

/* A packet that the device is about to get, or had. */
struct looked_at {
	const struct known_queue *queue;
	uint64_t index, cause;
	struct counter_set *set; /* set around it, or NULL */
	bool is_last;            /* its index is the doorbell's value */
};

static bool packet_describe(const struct looked_at *at, const struct hsa_packet *packet,
			    struct hsa_command *ret)
{
	const struct known_queue *queue = at->queue;
	uint64_t now = clock_ticks();

	if (!now) {
		events_lose();
		return false;
	}
	*ret = (struct hsa_command){ .domain = DOMAIN_KERNEL,
				     .asked = now,
				     .cause = at->cause,
				     .is_hidden = !hsa_is_traced(DOMAIN_KERNEL),
				     .counted = at->set,
				     .counted_use = at->set ? set_use(at->set) : 0,
				     .dispatch = events_dispatch(),
				     .thread = (uint64_t)call_thread_number(),
				     .agent = queue->agent,
				     .device = agent_device(queue->agent),
				     .queue = queue->number,
				     .object = packet->kernel,
				     .name = code_store_name(packet->kernel),
				     .private_bytes = packet->private_bytes,
				     .group_bytes = packet->group_bytes };
	ret->ring_name = events_name(ret->name, ret->object);
	for (unsigned i = 0; i < 3; i++) {
		ret->grid[i] = packet->grid[i];
		ret->group[i] = packet->group[i];
	}
	if (at->set)
		counters_describe(at->set, ret);
	return true;
}

/* True if the packet is unchanged and not executed. */
static bool is_still_there(const struct hsa_packet *packet, uint64_t signal)
{
	uint16_t header = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE);

	return (header & PACKET_TYPE) == PACKET_KERNEL && packet->completion == signal;
}

/* Cancels a signal that waits in no packet; it is reused after its handler was called. */
static void leave_signal(const struct hsa_command *command)
{
	if (!pending_cancel(command->signal, command->cause))
		return;
	hsa_report_done(command, &(struct hsa_time){ 0, 0 });
	hsa_discount_ours();
}

/* If another thread has rung meanwhile and the slot has a new packet, that packet may have a
 * signal, which is never overwritten. */
static bool put_signal(struct hsa_packet *packet, uint64_t signal)
{
	uint64_t none = 0;

	return __atomic_compare_exchange_n(&packet->completion, &none, signal, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static bool give_signal(struct hsa_packet *packet, struct hsa_command *command)
{
	command->signal = hsa_signal_acquire(on_done, NULL);
	command->done_at = 0;
	command->has_our_signal = true;
	if (!command->signal)
		return false;
	hsa_count_ours();
	if (!pending_add(command)) {
		hsa_discount_ours();
		/* Runs the handler at once, which frees the signal. */
		hsa_calls.signal_store(command->signal, 0);
		return false;
	}
	if (put_signal(packet, command->signal)) {
		if (!is_still_there(packet, command->signal))
			leave_signal(command);
	} else {
		leave_signal(command);
		/* The signal is in no packet: runs its handler. */
		hsa_calls.signal_store(command->signal, 0);
	}
	return true;
}

bool hsa_follow_signal(struct hsa_command *command, uint64_t signal, uint64_t token)
{
	int64_t value = hsa_calls.signal_load(signal);

	hsa_check_signal(signal, value);
	command->signal = signal;
	command->done_at = value - 1 - (int64_t)pending_count_of(signal);
	return pending_fill(token, command);
}

/* The device has executed the packet before its doorbell was rung, because of a later doorbell: the
 * packet still contains its description. */
static void look_back(const struct looked_at *at, const struct hsa_packet *packet)
{
	struct hsa_command command;
	struct hsa_time time = { 0, 0 };

	if (!packet->setup || packet->setup > DIMENSIONS_MAX || !packet->kernel ||
	    !packet_describe(at, packet, &command)) {
		if (at->set)
			counters_describe(at->set, NULL);
		return;
	}
	if (packet->completion && command.agent &&
	    hsa_calls.dispatch_time(command.agent, packet->completion, &time))
		time = (struct hsa_time){ 0, 0 };
	hsa_report_done(&command, &time);
}

/* Another thread may have rung for its packet meanwhile, waited for its end, and reused its signal:
 * then no hook will read the signal for this packet any more. */
static void packet_recheck(const struct hsa_packet *packet, const struct hsa_command *command)
{
	if (!is_still_there(packet, command->signal) &&
	    pending_cancel(command->signal, command->cause))
		hsa_report_done(command, &(struct hsa_time){ 0, 0 });
}

/* The packet may have ended, and its signal be destroyed, before the slot was held. */
static bool follow_packet(const struct hsa_packet *packet, struct hsa_command *command,
			  uint64_t signal, bool is_last)
{
	uint64_t token = pending_hold(signal);

	if (!token)
		return false;
	if (!is_still_there(packet, signal)) {
		pending_release(token);
		hsa_report_done(command, &(struct hsa_time){ 0, 0 });
		return true;
	}
	if (!hsa_follow_signal(command, signal, token))
		return false;
	if (!is_last)
		packet_recheck(packet, command);
	return true;
}

static void look_at_kernel(const struct looked_at *at, struct hsa_packet *packet)
{
	uint64_t signal = packet->completion;
	struct hsa_command command;

	if (!packet_describe(at, packet, &command)) {
		if (at->set)
			counters_describe(at->set, NULL);
	} else if (!(signal ? follow_packet(packet, &command, signal, at->is_last)
			    : give_signal(packet, &command))) {
		hsa_note_lost();
		counters_store_times(&command, &(struct device_times){ 0 });
	}
}

static void look_at_packet(const struct looked_at *at, struct hsa_packet *packet)
{
	uint16_t type = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE) & PACKET_TYPE;

	if (!at->set && !hsa_is_traced(DOMAIN_KERNEL))
		return;
	if (type == PACKET_KERNEL)
		look_at_kernel(at, packet);
	else if (type == PACKET_INVALID)
		look_back(at, packet);
	else if (at->set)
		counters_describe(at->set, NULL);
}

/* Visits packets up to the doorbell's value: the doorbell gives all of them to the device. */
static void look_at_packets(struct known_queue *queue, uint64_t last, uint64_t cause)
{
	for (uint64_t i = last - MIN(last, queue->size - 1); hsa_queue_next(queue, &i, last); i++) {
		struct looked_at at = { queue, i, cause, counters_find_set(queue, i), i == last };

		look_at_packet(&at, (struct hsa_packet *)queue->base + (i & (queue->size - 1)));
	}
}

/* (signal, value): a doorbell, or a signal that is set for its next use. */
void hsa_before_doorbell(struct call_frame *frame)
{
	uint64_t signal = frame->integers[0];
	struct known_queue *queue;

	if (!hsa_sees_any())
		return;
	queue = hsa_queue_of(signal);
	if (!queue)
		hsa_before_signal(frame);
	else if (hsa_sees_packets())
		look_at_packets(queue, frame->integers[1], frame->begin);
	if (queue && counters_are_on())
		frame->integers[1] = counters_last_of(queue, frame->integers[1]);
}
