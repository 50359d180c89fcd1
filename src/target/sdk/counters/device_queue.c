/*
 * On threads of tools and of ours, one at a time for each queue; and on the program's where it
 * shuts its runtime down, when nobody else is inside the gate.
 */
#include "target/sdk/counters/device_queue.h"

#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"
#include "target/sdk/status.h"
#include "target/sdk/tables/intercept.h"

#include <string.h>

#define QUEUES_MAX    64u
#define QUEUE_PACKETS 64u
#define QUEUE_SINGLE  1u /* its type: one thread puts packets */
#define GLANCE_NS     20000u
#define LAST_NS       500000000ull                   /* of all queues, before the runtime ends */
#define VENDOR_HEADER (1u << 8 | 2u << 9 | 2u << 11) /* barrier; fences of the system */

/* Those that are there; changed inside the gate only. */
static struct device_queue *queues[QUEUES_MAX];
static uint32_t holders;

bool device_queues_hold(void)
{
	return __atomic_load_n(&holders, __ATOMIC_SEQ_CST);
}

/* AMD's runtime aborts the program for a fault of a queue that has no such function. */
static void on_fault(int status, const struct hsa_queue *queue, void *data)
{
	struct device_queue *self = data;

	(void)status, (void)queue;
	__atomic_store_n(&self->is_broken, 1, __ATOMIC_RELEASE);
}

static bool queue_is_broken(const struct device_queue *self)
{
	return __atomic_load_n(&self->is_broken, __ATOMIC_ACQUIRE);
}

static bool queue_is_there(const struct device_queue *self)
{
	/* Acquire: pairs with queue_is_over(). */
	return __atomic_load_n(&self->queue, __ATOMIC_ACQUIRE);
}

/* The last that is done with it on another thread: its memory may be given back at once. */
static void queue_is_over(struct device_queue *self)
{
	__atomic_store_n(&self->queue, NULL, __ATOMIC_RELEASE);
}

static void queue_hold(struct device_queue *self)
{
	self->is_held = 1;
	if (!__atomic_fetch_add(&holders, 1, __ATOMIC_SEQ_CST))
		intercept_update();
}

static void queue_release(struct device_queue *self)
{
	if (self->is_held)
		__atomic_fetch_sub(&holders, 1, __ATOMIC_SEQ_CST);
	self->is_held = 0;
}

static bool queue_list(struct device_queue *self)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++) {
		struct device_queue *none = NULL;

		if (__atomic_compare_exchange_n(&queues[i], &none, self, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void queue_unlist(struct device_queue *self)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		if (__atomic_load_n(&queues[i], __ATOMIC_RELAXED) == self)
			__atomic_store_n(&queues[i], NULL, __ATOMIC_RELEASE);
}

/* DEVICE_DONE: inside the gate, and the queue is there; to be left by hsa_gate_leave().
 * DEVICE_LATE: not now. */
static enum device_answer queue_enter(struct device_queue *self)
{
	enum device_answer answer;
	uint32_t puts;

	if (!page_is_own() || !queue_is_there(self))
		return DEVICE_GONE;
	if (self->is_unseen || !hsa_gate_enter())
		return DEVICE_LATE;
	answer = queue_is_there(self) ? DEVICE_DONE : DEVICE_GONE;
	if (answer == DEVICE_DONE && !intercept_sees_restarts(&puts))
		answer = DEVICE_LATE;
	if (answer == DEVICE_DONE && puts != self->puts) {
		self->is_unseen = 1;
		answer = DEVICE_LATE;
	}
	if (answer != DEVICE_DONE)
		hsa_gate_leave();
	return answer;
}

static bool queue_make(struct device_queue *self)
{
	if (self->hsa.signal_create(0, 0, NULL, &self->signal))
		return false;
	if (!self->hsa.queue_create(self->packets.hsa_agent, QUEUE_PACKETS, QUEUE_SINGLE,
				    (void *)on_fault, self, UINT32_MAX, UINT32_MAX, &self->queue))
		return true;
	(void)self->hsa.signal_destroy(self->signal);
	self->queue = NULL;
	return false;
}

/* Inside the gate, as the next ones. */
static void queue_give_back(struct device_queue *self)
{
	queue_unlist(self); /* first: the runtime may take longer than its gate waits */
	(void)self->hsa.queue_destroy(self->queue);
	(void)self->hsa.signal_destroy(self->signal);
	packets_free(&self->packets);
	queue_is_over(self);
}

static int queue_fill(struct device_queue *self)
{
	int r = packets_make(&self->packets);

	if (r)
		return r;
	if (!queue_make(self)) {
		packets_free(&self->packets);
		return SDK_NO_PROFILE_QUEUE;
	}
	if (queue_list(self))
		return SDK_SUCCESS;
	queue_give_back(self);
	return SDK_OUT_OF_RESOURCES;
}

/* What asks the loader comes before the gate. */
int device_queue_open(struct device_queue *ret, const struct counter_config *config)
{
	int r;

	ret->queue = NULL;
	ret->under_way = STEP_NONE;
	ret->is_started = ret->is_broken = ret->is_unseen = 0;
	ret->config = *config;
	r = packets_prepare(&ret->packets, &ret->hsa, &ret->config);
	if (r)
		return r;
	if (!page_is_own() || !hsa_functions_find(&ret->hsa))
		return SDK_HSA_NOT_LOADED;
	queue_hold(ret);
	r = SDK_HSA_NOT_LOADED;
	if (hsa_gate_enter()) {
		r = intercept_sees_restarts(&ret->puts) ? queue_fill(ret) : SDK_NO_PROFILE_QUEUE;
		hsa_gate_leave();
	}
	if (r)
		queue_release(ret);
	return r;
}

static void packet_put(struct device_queue *self, enum device_step step)
{
	const struct pmc_packets *packets = &self->packets.packets;
	const struct hsa_packet *const by_step[] = { [STEP_START] = &packets->start,
						     [STEP_READ] = &packets->read,
						     [STEP_STOP] = &packets->stop };
	uint64_t index = self->hsa.load_write(self->queue);
	struct hsa_packet *into =
		(struct hsa_packet *)self->queue->base + (index & (self->queue->size - 1));

	/* Ours alone: nobody else takes room in it. */
	(void)self->hsa.cas_write(self->queue, index, index + 1);
	self->hsa.signal_store(self->signal, 1);
	memcpy((char *)into + sizeof(into->header),
	       (const char *)by_step[step] + sizeof(into->header),
	       sizeof(*into) - sizeof(into->header));
	into->completion = self->signal;
	/* Release: from now on it is the device's. */
	__atomic_store_n(&into->header, VENDOR_HEADER, __ATOMIC_RELEASE);
	self->under_way = step;
	self->is_started |= step == STEP_START;
	self->hsa.signal_store(self->queue->doorbell, (int64_t)index);
}

/* Has the device done what was put? */
static bool packet_is_done(struct device_queue *self)
{
	if (self->under_way != STEP_NONE && self->hsa.signal_load(self->signal) > 0)
		return false;
	if (self->under_way == STEP_READ)
		self->is_whole = packets_read(&self->packets);
	if (self->under_way == STEP_STOP)
		self->is_started = 0;
	self->under_way = STEP_NONE;
	return true;
}

/* STEP_NONE: nothing is put, and what is under way is looked at. */
static enum device_answer queue_try(struct device_queue *self, enum device_step step)
{
	enum device_answer answer = queue_enter(self);

	if (answer != DEVICE_DONE)
		return answer;
	if (queue_is_broken(self))
		answer = DEVICE_BROKEN;
	else if (!packet_is_done(self))
		answer = DEVICE_LATE;
	else if (step != STEP_NONE)
		packet_put(self, step);
	hsa_gate_leave();
	return answer;
}

/* Outside the gate between two glances. */
static enum device_answer queue_await(struct device_queue *self, enum device_step step,
				      struct patience *patience, uint64_t limit_ns)
{
	enum device_answer answer = queue_try(self, step);

	while (answer == DEVICE_LATE && patience_pause(patience, GLANCE_NS, limit_ns))
		answer = queue_try(self, step);
	return answer;
}

enum device_answer device_queue_step(struct device_queue *self, enum device_step step,
				     uint64_t limit_ns)
{
	struct patience patience = { 0 };
	enum device_answer answer = queue_await(self, step, &patience, limit_ns);

	return answer ? answer : queue_await(self, STEP_NONE, &patience, limit_ns);
}

static enum device_answer queue_leave(struct device_queue *self)
{
	enum device_answer answer = queue_enter(self);

	if (answer != DEVICE_DONE)
		return answer;
	if (!queue_is_broken(self) && !packet_is_done(self)) {
		answer = DEVICE_LATE;
	} else if (self->is_started && !queue_is_broken(self)) {
		packet_put(self, STEP_STOP);
		answer = DEVICE_LATE;
	} else {
		queue_give_back(self);
	}
	hsa_gate_leave();
	return answer;
}

bool device_queue_is_there(const struct device_queue *self)
{
	return queue_is_there(self);
}

enum device_answer device_queue_close(struct device_queue *self, uint64_t limit_ns)
{
	struct patience patience = { 0 };
	enum device_answer answer = queue_leave(self);

	while (answer == DEVICE_LATE && limit_ns && patience_pause(&patience, GLANCE_NS, limit_ns))
		answer = queue_leave(self);
	if (answer != DEVICE_LATE)
		queue_release(self);
	return answer;
}

static bool packet_await(struct device_queue *self, struct patience *patience)
{
	bool is_done = packet_is_done(self);

	while (!is_done && patience_pause(patience, GLANCE_NS, LAST_NS))
		is_done = packet_is_done(self);
	return is_done;
}

static void queue_end(struct device_queue *self, struct patience *patience)
{
	bool is_idle = queue_is_broken(self) || packet_await(self, patience);

	if (is_idle && self->is_started && !queue_is_broken(self)) {
		packet_put(self, STEP_STOP);
		is_idle = packet_await(self, patience);
	}
	if (is_idle)
		queue_give_back(self);
}

void device_queues_end(void)
{
	struct patience patience = { 0 };

	if (!device_queues_hold() || !page_is_own() || !hsa_gate_enter_alone())
		return;
	for (unsigned i = 0; i < QUEUES_MAX; i++) {
		struct device_queue *queue = __atomic_load_n(&queues[i], __ATOMIC_ACQUIRE);

		if (queue && !queue->is_unseen)
			queue_end(queue, &patience);
	}
	hsa_gate_leave();
}

void device_queues_forget(void)
{
	if (!page_is_own())
		return;
	for (unsigned i = 0; i < QUEUES_MAX; i++) {
		struct device_queue *queue = __atomic_load_n(&queues[i], __ATOMIC_ACQUIRE);

		if (!queue)
			continue;
		queue_unlist(queue);
		queue->packets.library = NULL; /* theirs is gone, too */
		queue_is_over(queue);
	}
}

void device_queues_adopt(void)
{
	holders = 0;
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		queues[i] = NULL;
}
