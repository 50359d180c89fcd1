/*
 * Runs on limpet's threads, one at a time, between hsa_gate_enter() and hsa_gate_leave(); and on
 * the application thread that shuts the runtime down, with the gate shut for limpet's threads.
 */
#include "target/amd/counters/windows.h"

#include "shared/arch/syscall.h"
#include "target/amd/counters/records.h"
#include "target/amd/counters/ring_slots.h"
#include "target/amd/events/events.h"
#include "target/hooks/clock.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/kernel_clock.h"

#include <time.h>

#define QUEUE_PACKETS 64u
#define QUEUE_SINGLE  1u /* single-producer queue */
#define GLANCE_NS     20000
#define PATIENCE_NS   20000000u  /* limit for one packet */
#define LAST_WAIT_NS  500000000u /* limit at the end of a session */

enum window_step { STEP_NONE, STEP_START, STEP_READ, STEP_STOP };

struct window_queue {
	struct counting_device *device;
	const struct hsa_queue *queue; /* NULL: there is none */
	struct counter_set *set;
	uint64_t signal;
	enum window_step under_way;
	uint64_t put_at;    /* when the packet in flight was put, in ticks */
	uint64_t begin;     /* since when the device counts, in ticks; 0: it does not */
	uint32_t is_broken; /* the runtime reported a fault: the queue is not used any more */
};

static struct window_queue queues[COUNTER_DEVICES_MAX];
static uint64_t interval_ns, due_ns;
static uint32_t is_on, late;

bool windows_are_on(void)
{
	return __atomic_load_n(&is_on, __ATOMIC_ACQUIRE);
}

uint32_t windows_late(void)
{
	return late;
}

/* AMD's runtime aborts the process for a fault of a queue without such a callback. */
static void on_fault(int status, const struct hsa_queue *queue, void *data)
{
	struct window_queue *self = data;

	(void)status, (void)queue;
	__atomic_store_n(&self->is_broken, 1, __ATOMIC_RELEASE);
}

static bool queue_is_broken(const struct window_queue *self)
{
	return __atomic_load_n(&self->is_broken, __ATOMIC_ACQUIRE);
}

static bool queue_make(struct window_queue *self, struct counting_device *device)
{
	*self = (struct window_queue){ .device = device, .set = &device->sets[0] };
	if (hsa_calls.signal_create(0, 0, NULL, &self->signal))
		return false;
	if (hsa_calls.queue_create(device->agent, QUEUE_PACKETS, QUEUE_SINGLE, (void *)on_fault,
				   self, UINT32_MAX, UINT32_MAX, &self->queue)) {
		(void)hsa_calls.signal_destroy(self->signal);
		self->queue = NULL;
		return false;
	}
	__atomic_store_n(&self->set->state, SET_TAKEN, __ATOMIC_RELEASE);
	return true;
}

static void queue_give_back(struct window_queue *self)
{
	(void)hsa_calls.queue_destroy(self->queue);
	(void)hsa_calls.signal_destroy(self->signal);
	__atomic_store_n(&self->set->state, SET_FREE, __ATOMIC_RELEASE);
	self->queue = NULL;
}

static void packet_put(struct window_queue *self, enum window_step step)
{
	const struct pmc_packets *packets = &self->set->aql.packets;
	const struct hsa_packet *const by_step[] = { [STEP_START] = &packets->start,
						     [STEP_READ] = &packets->read,
						     [STEP_STOP] = &packets->stop };
	uint64_t index = hsa_calls.load_write(self->queue);

	/* Cannot fail: only limpet's thread puts packets into this queue. */
	(void)hsa_calls.cas_write(self->queue, index, index + 1);
	hsa_calls.signal_store(self->signal, 1);
	slot_put(self->queue, index, by_step[step], self->signal);
	self->under_way = step;
	self->put_at = clock_ticks();
	hsa_calls.signal_store(self->queue->doorbell, (int64_t)index);
}

/* True if the device has executed the packet. The time is the middle between put and completion. */
static bool packet_await(const struct window_queue *self, uint64_t patience_ns, uint64_t *ret_at)
{
	struct timespec pause = { 0, GLANCE_NS };
	uint64_t limit_ns = monotonic_ns() + patience_ns;
	uint64_t now;

	for (;;) {
		bool is_done = hsa_calls.signal_load(self->signal) <= 0;

		now = clock_ticks();
		*ret_at = self->put_at + (now - self->put_at) / 2;
		if (is_done || monotonic_ns() >= limit_ns)
			return is_done;
		raw2(SYS_nanosleep, &pause, 0);
	}
}

static void reading_write(struct window_queue *self, uint64_t at)
{
	if (counting_set_read(self->set))
		window_record_write(self->set, self->begin, at);
}

static void step_finish(struct window_queue *self, uint64_t at)
{
	enum window_step step = self->under_way;

	self->under_way = STEP_NONE;
	if (step == STEP_START)
		self->begin = at;
	if (step == STEP_READ)
		reading_write(self, at);
}

/* Completes a late packet if the device has executed it by now. The time of a late reading is
 * unknown, and the next one contains its counts; a late start counts from when it was put. */
static bool step_settle(struct window_queue *self)
{
	if (self->under_way != STEP_NONE && hsa_calls.signal_load(self->signal) <= 0) {
		if (self->under_way == STEP_START)
			self->begin = self->put_at;
		self->under_way = STEP_NONE;
	}
	return self->under_way == STEP_NONE;
}

static void step_make(struct window_queue *self, enum window_step step)
{
	uint64_t at;

	packet_put(self, step);
	if (packet_await(self, MIN(interval_ns, PATIENCE_NS), &at))
		step_finish(self, at);
	else
		late++;
}

static void queue_tick(struct window_queue *self)
{
	if (self->queue && !queue_is_broken(self) && step_settle(self))
		step_make(self, self->begin ? STEP_READ : STEP_START);
}

static void queues_tick(void)
{
	if (!hsa_gate_enter())
		return;
	for (unsigned i = 0; i < COUNTER_DEVICES_MAX; i++)
		queue_tick(&queues[i]);
	hsa_gate_leave();
}

uint64_t windows_tick(uint64_t now_ns)
{
	if (!windows_are_on())
		return UINT64_MAX;
	if (now_ns < due_ns)
		return due_ns - now_ns;
	queues_tick();
	now_ns = monotonic_ns();
	due_ns += interval_ns;
	if (due_ns <= now_ns) /* the watching thread was busy */
		due_ns = now_ns + interval_ns;
	return due_ns - now_ns;
}

/* Frees a queue that an earlier session could not free, if its device has finished. */
static void queue_settle(struct window_queue *self)
{
	if (self->queue && hsa_calls.signal_load(self->signal) <= 0)
		queue_give_back(self);
}

static bool queues_make(void)
{
	unsigned made = 0;

	for (unsigned i = 0; i < COUNTER_DEVICES_MAX; i++) {
		struct counting_device *device = counting_device_at(i);

		if (device && !queues[i].queue)
			made += queue_make(&queues[i], device);
	}
	return made;
}

enum counting_fault windows_begin(const struct counter_request *request)
{
	enum counting_fault fault;

	if (!hsa_calls.queue_create || !hsa_calls.queue_destroy)
		return COUNTING_NO_FUNCTIONS;
	for (unsigned i = 0; i < COUNTER_DEVICES_MAX; i++)
		queue_settle(&queues[i]);
	fault = counting_devices_begin(request);
	if (fault)
		return fault;
	if (!queues_make()) {
		counting_devices_end();
		return COUNTING_NO_QUEUE;
	}
	late = 0;
	interval_ns = request->window_ns;
	due_ns = monotonic_ns();
	__atomic_store_n(&is_on, 1, __ATOMIC_RELEASE);
	return COUNTING_FINE;
}

/* True if no packet is in flight. */
static bool step_await(struct window_queue *self)
{
	uint64_t at;

	if (self->under_way != STEP_NONE && !packet_await(self, LAST_WAIT_NS, &at))
		return false;
	if (self->under_way != STEP_NONE)
		step_finish(self, at);
	return true;
}

/* Stops what was started, also after a late packet. */
static bool counting_stop(struct window_queue *self)
{
	if (!step_await(self) || !self->begin)
		return self->under_way == STEP_NONE;
	packet_put(self, STEP_READ);
	if (!step_await(self))
		return false;
	packet_put(self, STEP_STOP);
	return step_await(self);
}

/* A device that does not answer keeps its queue and its packets. */
static void queue_end(struct window_queue *self)
{
	if (self->queue && (queue_is_broken(self) || counting_stop(self)))
		queue_give_back(self);
}

void windows_end(void)
{
	if (!__atomic_exchange_n(&is_on, 0, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; i < COUNTER_DEVICES_MAX; i++)
		queue_end(&queues[i]);
	counting_devices_end();
}

void windows_forget(void)
{
	__atomic_store_n(&is_on, 0, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < COUNTER_DEVICES_MAX; i++)
		queues[i].queue = NULL;
}
