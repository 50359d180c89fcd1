/*
 * Runs on threads of the program's, around its calls of HSA, and on the runtime's where a signal of
 * ours calls.  Calls the runtime only there, never where the program may be inside of it.
 */
#include "target/domains/hsa_work.h"

#include "shared/arch/syscall.h"
#include "target/domains/hsa_agents.h"
#include "target/domains/hsa_kernels.h"
#include "target/domains/hsa_pending.h"
#include "target/domains/hsa_queues.h"
#include "target/domains/hsa_signals.h"
#include "target/domains/work.h"
#include "target/hooks/clock.h"
#include "target/hooks/got.h"
#include "target/hooks/thread.h"

#include <time.h>

#define DRAIN_STEP_NS   5000000
#define DRAIN_STEPS     400u /* two seconds */
#define WAIT_SIGNALS    64u
#define NOT_INITIALIZED 0x100b
#define GLANCE_NS       50000
#define GLANCES_MAX     1000u
#define DIMENSIONS_MAX  3u

static bool is_on[DOMAINS];
static bool have_copy_times, is_begun;
static uint64_t begun_beside; /* data of the same library */
static uint32_t lost;
static uint32_t ours; /* signals of ours that are awaited */

static bool is_seen(enum trace_domain domain)
{
	return __atomic_load_n(&is_on[domain], __ATOMIC_RELAXED) && writers_are_on();
}

static bool is_any_seen(void)
{
	return is_seen(DOMAIN_KERNEL) || is_seen(DOMAIN_COPY);
}

static void write_kernel(struct writer *writer, const struct hsa_command *command, uint64_t begin,
			 uint64_t end)
{
	const uint64_t values[] = {
		command->name,     command->device,        command->queue,       0,
		command->thread,   command->cause,         work_dispatch(),      command->grid[0],
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

static void write_done(const struct hsa_command *command, const struct hsa_time *time)
{
	uint64_t begin = command->asked, end = clock_ticks();
	writer_seal seal;
	struct writer *writer = end ? writer_begin(&seal) : NULL;

	if (!end)
		writer_lose();
	if (!writer)
		return;
	if (time->begin_ns && time->end_ns >= time->begin_ns) {
		struct clock_rate now = clock_recent(&writer->clock);

		begin = clock_ticks_at(&now, time->begin_ns);
		end = clock_ticks_at(&now, time->end_ns);
	}
	agents_name(writer, command->device);
	(command->domain == DOMAIN_KERNEL ? write_kernel : write_copy)(writer, command, begin, end);
	writer_end(writer, &seal);
}

/* Times of copies are kept only when somebody has switched that on; whether the program has shows
 * at the first copy that we see done. */
static void ask_copy_time(uint64_t signal, struct hsa_time *ret)
{
	if (!hsa_calls.copy_time(signal, ret))
		return;
	*ret = (struct hsa_time){ 0, 0 };
	if (!__atomic_exchange_n(&have_copy_times, true, __ATOMIC_RELAXED))
		(void)hsa_calls.profile_copies(true);
}

static void ask_time(const struct hsa_command *command, int64_t value, struct hsa_time *ret)
{
	*ret = (struct hsa_time){ 0, 0 };
	/* The signal has been used again since: its times are those of another. */
	if (value != command->done_at)
		return;
	if (command->domain == DOMAIN_COPY)
		ask_copy_time(command->signal, ret);
	else if (!command->agent || hsa_calls.dispatch_time(command->agent, command->signal, ret))
		*ret = (struct hsa_time){ 0, 0 };
}

/* Those of a runtime that was shut down are not counted any more. */
static void discount_ours(void)
{
	uint32_t now = __atomic_load_n(&ours, __ATOMIC_RELAXED);

	while (now && !__atomic_compare_exchange_n(&ours, &now, now - 1, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		;
}

/* The program has found this value in a signal of its own. */
static void look_at_signal(uint64_t signal, int64_t value)
{
	struct hsa_command command;
	struct hsa_time time;
	uint64_t token;

	while (signal && (token = pending_take(signal, value, &command))) {
		ask_time(&command, value, &time);
		pending_give_back(token);
		if (command.has_our_signal)
			discount_ours();
		write_done(&command, &time);
	}
}

/* Another thread may be about to destroy a signal that commands wait for: it does not while one of
 * them is taken. */
static void look_at_awaited(uint64_t signal)
{
	struct hsa_command any;
	uint64_t token = signal ? pending_take(signal, INT64_MIN, &any) : 0;
	int64_t value;

	if (!token)
		return;
	value = hsa_calls.signal_load(signal);
	(void)pending_put_back(token);
	look_at_signal(signal, value);
}

/* A signal of ours: its packet is done. */
static bool on_done(int64_t value, void *data)
{
	uint64_t signal = (uint64_t)data;

	look_at_signal(signal, value);
	hsa_signal_give_back(signal);
	return false; /* once is enough */
}

static void note_lost(void)
{
	__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
}

static bool describe(const struct known_queue *queue, const struct hsa_packet *packet,
		     uint64_t cause, struct hsa_command *ret)
{
	uint64_t now = clock_ticks();
	writer_seal seal;
	struct writer *writer = now ? writer_begin(&seal) : NULL;

	if (!now)
		writer_lose();
	if (!writer)
		return false;
	*ret = (struct hsa_command){ .domain = DOMAIN_KERNEL,
				     .asked = now,
				     .cause = cause,
				     .thread = (uint64_t)thread_number(),
				     .agent = queue->agent,
				     .device = queue->device,
				     .queue = queue->number,
				     .name = hsa_kernel_name(writer, packet->kernel),
				     .private_bytes = packet->private_bytes,
				     .group_bytes = packet->group_bytes };
	for (unsigned i = 0; i < 3; i++) {
		ret->grid[i] = packet->grid[i];
		ret->group[i] = packet->group[i];
	}
	writer_end(writer, &seal);
	return true;
}

/* Still the one that was looked at, and not done? */
static bool is_still_there(const struct hsa_packet *packet, uint64_t signal)
{
	uint16_t header = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE);

	return (header & PACKET_TYPE) == PACKET_KERNEL && packet->completion == signal;
}

/* A signal that nobody waits for any more; it is used again once it has called. */
static void leave_signal(const struct hsa_command *command)
{
	if (!pending_cancel(command->signal, command->cause))
		return;
	discount_ours();
	write_done(command, &(struct hsa_time){ 0, 0 });
}

/* Where another thread has meanwhile rung for it, and the packet is another by now, that one may
 * have a signal: it is never put over one. */
static bool put_signal(struct hsa_packet *packet, uint64_t signal)
{
	uint64_t none = 0;

	return __atomic_compare_exchange_n(&packet->completion, &none, signal, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) &&
	       is_still_there(packet, signal);
}

static bool give_signal(struct hsa_packet *packet, struct hsa_command *command)
{
	command->signal = hsa_signal_take(on_done);
	command->done_at = 0;
	command->has_our_signal = true;
	if (!command->signal)
		return false;
	__atomic_fetch_add(&ours, 1, __ATOMIC_RELAXED);
	if (!pending_add(command)) {
		discount_ours();
		/* It calls at once, and is given back. */
		hsa_calls.signal_store(command->signal, 0);
		return false;
	}
	if (!put_signal(packet, command->signal))
		leave_signal(command);
	return true;
}

/* The signal is there as long as the place is held. */
static bool follow_signal(struct hsa_command *command, uint64_t signal, uint64_t token)
{
	int64_t value = hsa_calls.signal_load(signal);

	look_at_signal(signal, value);
	command->signal = signal;
	command->done_at = value - 1 - (int64_t)pending_count_of(signal);
	return pending_fill(token, command);
}

/* The device has done it before it was rung for, since a later one was: what it did still stands in
 * the packet. */
static void look_back(const struct known_queue *queue, const struct hsa_packet *packet,
		      uint64_t cause)
{
	struct hsa_command command;
	struct hsa_time time = { 0, 0 };

	if (!packet->setup || packet->setup > DIMENSIONS_MAX || !packet->kernel ||
	    !describe(queue, packet, cause, &command))
		return;
	if (packet->completion && command.agent &&
	    hsa_calls.dispatch_time(command.agent, packet->completion, &time))
		time = (struct hsa_time){ 0, 0 };
	write_done(&command, &time);
}

/* The packet of another thread, which may have rung for it meanwhile, and waited for its end, and
 * set its signal for the next one: then nobody will look at the signal for this one any more. */
static void recheck(const struct hsa_packet *packet, const struct hsa_command *command)
{
	if (!is_still_there(packet, command->signal) &&
	    pending_cancel(command->signal, command->cause))
		write_done(command, &(struct hsa_time){ 0, 0 });
}

/* What is done by now may have had its signal destroyed, too, before we held a place for it. */
static bool follow_packet(const struct hsa_packet *packet, struct hsa_command *command,
			  uint64_t signal, bool is_last)
{
	uint64_t token = pending_hold(signal);

	if (!token)
		return false;
	if (!is_still_there(packet, signal)) {
		pending_give_back(token);
		write_done(command, &(struct hsa_time){ 0, 0 });
		return true;
	}
	if (!follow_signal(command, signal, token))
		return false;
	if (!is_last)
		recheck(packet, command);
	return true;
}

static void look_at_kernel(const struct known_queue *queue, struct hsa_packet *packet,
			   uint64_t cause, bool is_last)
{
	uint64_t signal = packet->completion;
	struct hsa_command command;

	if (!describe(queue, packet, cause, &command))
		return;
	if (!(signal ? follow_packet(packet, &command, signal, is_last)
		     : give_signal(packet, &command)))
		note_lost();
}

/* Packets up to the one that is rung for: this makes all of them the device's. */
static void look_at_packets(struct known_queue *queue, uint64_t last, uint64_t cause)
{
	for (uint64_t i = last - MIN(last, queue->size - 1); hsa_queue_next(queue, &i, last); i++) {
		struct hsa_packet *packet =
			(struct hsa_packet *)queue->base + (i & (queue->size - 1));
		uint16_t type = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE) & PACKET_TYPE;

		if (type == PACKET_KERNEL)
			look_at_kernel(queue, packet, cause, i == last);
		else if (type == PACKET_INVALID)
			look_back(queue, packet, cause);
	}
}

/* (signal, value): a doorbell, or a signal that is set for its next use. */
void hsa_before_doorbell(struct hook_around *around, uint64_t *window)
{
	uint64_t signal = around->frame.arguments[0];
	struct known_queue *queue;

	(void)window;
	if (!is_any_seen())
		return;
	queue = hsa_queue_of(signal);
	if (!queue)
		hsa_before_signal(around, window);
	else if (is_seen(DOMAIN_KERNEL))
		look_at_packets(queue, around->frame.arguments[1], around->frame.begin);
}

/* (signal, ...): it is gone or set anew afterwards, and tells no more of what it was for. */
void hsa_before_signal(struct hook_around *around, uint64_t *window)
{
	uint64_t signal = around->frame.arguments[0];
	struct hsa_command command;
	uint64_t token;

	(void)window;
	if (!is_any_seen() || !signal || !pending_count_of(signal))
		return;
	look_at_signal(signal, hsa_calls.signal_load(signal));
	while ((token = pending_take(signal, INT64_MIN, &command))) {
		pending_give_back(token);
		write_done(&command, &(struct hsa_time){ 0, 0 });
	}
}

/* (signal): another thread may be looking at it just now.  That takes no time unless it was put to
 * sleep, or is no more. */
void hsa_before_signal_destroy(struct hook_around *around, uint64_t *window)
{
	struct timespec pause = { 0, GLANCE_NS };
	uint64_t signal = around->frame.arguments[0];

	if (!is_any_seen() || !signal)
		return;
	hsa_before_signal(around, window);
	for (unsigned i = 0; pending_has(signal); i++) {
		if (i == GLANCES_MAX) {
			pending_drop(signal);
			return;
		}
		raw2(SYS_nanosleep, &pause, 0);
		hsa_before_signal(around, window);
	}
}

/* (signal, ...) gives the value that it found. */
void hsa_after_load(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (is_any_seen())
		look_at_signal(around->frame.arguments[0], (int64_t)around->frame.results[0]);
}

/* (count, signals, ...) gives the place of the one that was found so. */
void hsa_after_wait_any(struct hook_around *around, uint64_t end)
{
	const uint64_t *signals = (const uint64_t *)around->frame.arguments[1];
	uint32_t found = (uint32_t)around->frame.results[0];

	(void)end;
	if (is_any_seen() && found < (uint32_t)around->frame.arguments[0])
		look_at_awaited(signals[found]);
}

void hsa_after_wait_all(struct hook_around *around, uint64_t end)
{
	const uint64_t *signals = (const uint64_t *)around->frame.arguments[1];
	uint32_t count = MIN((uint32_t)around->frame.arguments[0], WAIT_SIGNALS);

	(void)end;
	for (uint32_t i = 0; is_any_seen() && i < count; i++)
		look_at_awaited(signals[i]);
}

/* (agent, size, type, callback, data, private bytes, group bytes, queue **) */
void hsa_after_queue_create(struct hook_around *around, uint64_t end)
{
	const struct hsa_queue *const *place =
		(const struct hsa_queue *const *)hook_argument(&around->frame, 7);

	(void)end;
	if (is_seen(DOMAIN_KERNEL) && !(int32_t)around->frame.results[0] && place)
		hsa_queue_learn(*place, 0, around->frame.arguments[0]);
}

static const struct hsa_queue *queue_in(const struct hook_around *around)
{
	return (const struct hsa_queue *)around->frame.arguments[0];
}

/* (queue, ...) gives the index of the next packet, which may be the caller's now. */
void hsa_after_index(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (is_seen(DOMAIN_KERNEL))
		hsa_queue_learn(queue_in(around), around->frame.results[0], 0);
}

void hsa_before_queue_destroy(struct hook_around *around, uint64_t *window)
{
	(void)window;
	if (is_seen(DOMAIN_KERNEL))
		hsa_queue_forget(queue_in(around));
}

/* Only the last of several takes the runtime down, and all signals and queues with it. */
void hsa_after_shut_down(struct hook_around *around, uint64_t end)
{
	uint16_t version;

	(void)around;
	(void)end;
	if (!is_any_seen() || hsa_calls.system_info(0, &version) != NOT_INITIALIZED)
		return;
	hsa_queues_clear();
	hsa_signals_forget();
	pending_close();
	__atomic_store_n(&ours, 0, __ATOMIC_RELAXED);
}

void hsa_after_freeze(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (is_seen(DOMAIN_KERNEL) && !(int32_t)around->frame.results[0])
		hsa_kernels_add(around->frame.arguments[0]);
}

void hsa_before_executable_destroy(struct hook_around *around, uint64_t *window)
{
	(void)window;
	if (is_seen(DOMAIN_KERNEL))
		hsa_kernels_remove(around->frame.arguments[0]);
}

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
	if (token && follow_signal(command, signal, token))
		around->kept[0] = signal;
	else
		note_lost();
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
	if (!is_seen(DOMAIN_COPY))
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
	if (!is_seen(DOMAIN_COPY) || !range)
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

static void set_on(enum trace_domain domain, bool value)
{
	__atomic_store_n(&is_on[domain], value, __ATOMIC_RELEASE);
}

static uint32_t seen(void)
{
	return (uint32_t)is_on[DOMAIN_KERNEL] << DOMAIN_KERNEL | (uint32_t)is_on[DOMAIN_COPY]
									 << DOMAIN_COPY;
}

uint32_t hsa_work_begin(const struct hsa_slots *core, const struct hsa_slots *amd_ext, bool kernels,
			bool copies)
{
	if (is_begun)
		return seen();
	if (!hsa_calls_find(core, amd_ext) || pending_open())
		return 0;
	is_begun = true;
	begun_beside = (uint64_t)core->slots;
	have_copy_times = false;
	lost = ours = 0;
	hsa_queues_clear();
	/* What came back after the last session may be of a runtime that was shut down since. */
	hsa_signals_forget();
	if (kernels)
		hsa_kernels_begin();
	set_on(DOMAIN_KERNEL, kernels);
	set_on(DOMAIN_COPY, copies);
	return seen();
}

void hsa_work_leave_to_hip(void)
{
	set_on(DOMAIN_KERNEL, false);
	set_on(DOMAIN_COPY, false);
}

/* The runtime may be gone meanwhile, and what we have of it with it. */
static void give_back(void)
{
	void *library = got_hold(begun_beside);

	if (library && got_symbol_beside(begun_beside, "hsa_signal_destroy")) {
		if (have_copy_times)
			(void)hsa_calls.profile_copies(false);
		hsa_signals_free();
	} else {
		hsa_signals_forget();
	}
	got_release(library);
}

struct hsa_left hsa_work_end(void)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };
	struct hsa_left left = { 0, 0, 0 };

	if (!is_begun)
		return left;
	hsa_work_leave_to_hip();
	for (unsigned i = 0; i < DRAIN_STEPS && __atomic_load_n(&ours, __ATOMIC_RELAXED); i++)
		raw2(SYS_nanosleep, &pause, 0);
	left.cut = __atomic_load_n(&ours, __ATOMIC_RELAXED);
	left.unseen = pending_count() > left.cut ? pending_count() - left.cut : 0;
	left.lost = lost;
	give_back();
	hsa_kernels_end();
	pending_close();
	is_begun = false;
	return left;
}

void hsa_work_forget(void)
{
	hsa_work_leave_to_hip();
	hsa_signals_forget();
	is_begun = false;
}
