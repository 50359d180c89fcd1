/*
 * Runs on threads of tools, of limpet, and on the application thread that shuts HSA down, with the
 * device turn held.
 */
#include "target/amd/sinks/sdk/counters/device_queue.h"

#include "target/amd/counters/owner.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/tables/intercept.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"

#include <string.h>

#define QUEUE_PACKETS 64u
#define QUEUE_SINGLE  1u /* queue type: one producer thread */
#define GLANCE_NS     20000u
#define VENDOR_HEADER (1u << 8 | 2u << 9 | 2u << 11) /* barrier; system scope fences */

/* hsa_gate_enter(), or hsa_gate_enter_alone() for the thread that has shut the gate. */
typedef bool gate_enter(void);

static uint32_t runtime_life;
static uint32_t are_over; /* the process is in exit() */

uint32_t device_queues_life(void)
{
	return __atomic_load_n(&runtime_life, __ATOMIC_SEQ_CST);
}

void device_queues_end_life(void)
{
	__atomic_fetch_add(&runtime_life, 1, __ATOMIC_SEQ_CST);
}

bool device_queues_are_over(void)
{
	return __atomic_load_n(&are_over, __ATOMIC_SEQ_CST);
}

/* Shutting the gate waits for threads inside it; later ones see are_over. */
void device_queues_end(void)
{
	__atomic_store_n(&are_over, 1, __ATOMIC_SEQ_CST);
	(void)hsa_gate_shut();
	hsa_gate_open();
}

/* Claims the counters; the first queue installs the stubs of hsa_init() and hsa_shut_down(). */
static bool queue_hold(void)
{
	if (!owner_add_queue())
		return false;
	if (owner_queues() == 1)
		intercept_update();
	return true;
}

static void queue_release(void)
{
	owner_remove_queue();
	if (!owner_queues())
		intercept_update();
}

/* AMD's runtime aborts the process for a fault of a queue without this callback. */
static void on_fault(int status, const struct hsa_queue *queue, void *data)
{
	struct device_queue *self = data;

	(void)status;
	/* The fault may belong to a queue that was dropped. */
	if (queue == self->queue)
		__atomic_store_n(&self->is_broken, 1, __ATOMIC_RELEASE);
}

static bool queue_is_broken(const struct device_queue *self)
{
	return __atomic_load_n(&self->is_broken, __ATOMIC_ACQUIRE);
}

bool device_queue_is_there(const struct device_queue *self)
{
	return self->queue;
}

/* Forgets the queue without calling HSA: the runtime is gone, or may be gone. */
static void queue_drop(struct device_queue *self)
{
	packet_set_drop(&self->set);
	self->queue = NULL;
	queue_release();
}

enum device_answer device_queues_judge(uint32_t life, uint32_t puts, const uint64_t *entries)
{
	if (device_queues_are_over())
		return DEVICE_SHUT;
	if (life != device_queues_life())
		return DEVICE_GONE;
	if (!intercept_sees_restarts(entries))
		return DEVICE_SHUT;
	/* Stubs were stored again: a shutdown of the runtime may have been missed. */
	return intercept_restart_puts() == puts ? DEVICE_DONE : DEVICE_GONE;
}

static enum device_answer queue_judge(const struct device_queue *self)
{
	return device_queues_judge(self->life, self->puts, self->library.entries);
}

/* DEVICE_DONE: inside the gate, and the queue exists; leave with hsa_gate_leave(). */
static enum device_answer queue_enter(const struct device_queue *self, gate_enter *enter)
{
	enum device_answer answer;

	if (!enter())
		return DEVICE_SHUT;
	answer = queue_judge(self);
	if (answer != DEVICE_DONE)
		hsa_gate_leave();
	return answer;
}

static bool queue_make(struct device_queue *self)
{
	if (self->hsa.signal_create(0, 0, NULL, &self->signal))
		return false;
	if (!self->hsa.queue_create(self->set.agent, QUEUE_PACKETS, QUEUE_SINGLE, (void *)on_fault,
				    self, UINT32_MAX, UINT32_MAX, &self->queue))
		return true;
	(void)self->hsa.signal_destroy(self->signal);
	self->queue = NULL;
	return false;
}

/* Inside the gate. In exit(), the set and its memory stay. */
static int queue_fill(struct device_queue *self, const struct packet_events *events)
{
	int r = config_packets_make(&self->packets, &self->hsa, events, &self->set);

	if (r || queue_make(self))
		return r;
	(void)packet_set_give_back(&self->set);
	return SDK_NO_PROFILE_QUEUE;
}

/* Why no queue can be made now. */
static int queue_hindrance(const struct device_queue *self)
{
	if (device_queues_are_over())
		return SDK_FINALIZED;
	return intercept_hides_restarts(self->library.entries) ? SDK_NO_PROFILE_QUEUE
							       : SDK_HSA_NOT_LOADED;
}

static int queue_fill_inside(struct device_queue *self, const struct packet_events *events)
{
	int r;

	if (!hsa_gate_enter())
		return SDK_HSA_NOT_LOADED;
	r = queue_judge(self) == DEVICE_DONE ? queue_fill(self, events) : queue_hindrance(self);
	hsa_gate_leave();
	return r;
}

int status_of_lack(enum hsa_lack lack)
{
	if (lack == LACKS_OWN_FUNCTIONS)
		return SDK_NO_PROFILE_QUEUE;
	return lack ? SDK_HSA_NOT_LOADED : SDK_SUCCESS;
}

/* Reads the life first, so that functions of an earlier life are not used. */
static int queue_find_runtime(struct device_queue *self)
{
	self->life = device_queues_life();
	if (!hsa_library_hold(&self->library))
		return SDK_HSA_NOT_LOADED;
	self->puts = intercept_restart_puts();
	return status_of_lack(hsa_find_own(&self->library, NEED_QUEUES, &self->hsa));
}

/* Everything that enters the loader runs before the gate. */
int device_queue_open(struct device_queue *ret, const struct counter_config *config,
		      struct packet_events *events)
{
	int r = config_packets_prepare(&ret->packets, config, events);

	if (r)
		return r;
	r = page_is_own() ? queue_find_runtime(ret) : SDK_HSA_NOT_LOADED;
	if (r)
		return r;
	ret->under_way = STEP_NONE;
	ret->is_started = ret->is_broken = 0;
	if (!queue_hold())
		return SDK_CONTEXT_CONFLICT;
	r = queue_fill_inside(ret, events);
	if (r)
		queue_release();
	return r;
}

void device_queue_let_go(struct device_queue *self)
{
	if (!self->queue)
		hsa_library_leave(&self->library);
}

static void packet_put(struct device_queue *self, enum device_step step)
{
	const struct pmc_packets *packets = &self->set.packets;
	const struct hsa_packet *const by_step[] = { [STEP_START] = &packets->start,
						     [STEP_READ] = &packets->read,
						     [STEP_STOP] = &packets->stop };
	uint64_t index = self->hsa.load_write(self->queue);
	struct hsa_packet *into =
		(struct hsa_packet *)self->queue->base + (index & (self->queue->size - 1));

	/* No other thread reserves in this queue. */
	(void)self->hsa.cas_write(self->queue, index, index + 1);
	self->hsa.signal_store(self->signal, 1);
	memcpy((char *)into + sizeof(into->header),
	       (const char *)by_step[step] + sizeof(into->header),
	       sizeof(*into) - sizeof(into->header));
	into->completion = self->signal;
	/* Release: the device reads the packet once its header is valid. */
	__atomic_store_n(&into->header, VENDOR_HEADER, __ATOMIC_RELEASE);
	self->under_way = step;
	self->is_started |= step == STEP_START;
	self->hsa.signal_store(self->queue->doorbell, (int64_t)index);
}

/* Has the device executed the last packet? */
static bool packet_is_done(struct device_queue *self)
{
	if (self->under_way != STEP_NONE && self->hsa.signal_load(self->signal) > 0)
		return false;
	if (self->under_way == STEP_STOP)
		self->is_started = 0;
	self->under_way = STEP_NONE;
	return true;
}

/* STEP_NONE: only checks the step under way. */
static enum device_answer queue_try(struct device_queue *self, enum device_step step)
{
	enum device_answer answer = queue_enter(self, hsa_gate_enter);

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

/* Leaves the gate between two checks. */
static enum device_answer queue_await(struct device_queue *self, enum device_step step,
				      struct patience *patience, uint64_t limit_ns)
{
	enum device_answer answer = queue_try(self, step);

	while (answer == DEVICE_LATE && patience_pause(patience, GLANCE_NS, limit_ns))
		answer = queue_try(self, step);
	/* Checks once more: the pause may have been long. */
	return answer == DEVICE_LATE ? queue_try(self, step) : answer;
}

enum device_answer device_queue_step(struct device_queue *self, enum device_step step,
				     uint64_t limit_ns)
{
	struct patience patience = { 0, 0 };
	enum device_answer answer = queue_await(self, step, &patience, limit_ns);

	return answer ? answer : queue_await(self, STEP_NONE, &patience, limit_ns);
}

/* Inside the gate, because the runtime owns the memory of the values. */
bool device_queue_values(struct device_queue *self, struct counted_values *ret)
{
	bool is_whole;

	if (queue_enter(self, hsa_gate_enter) != DEVICE_DONE)
		return false;
	is_whole = config_packets_read(&self->packets, &self->set, ret);
	hsa_gate_leave();
	return is_whole;
}

/* Inside the gate, when the device does not use the queue any more. */
static void queue_give_back(struct device_queue *self)
{
	(void)self->hsa.queue_destroy(self->queue);
	(void)self->hsa.signal_destroy(self->signal);
	(void)packet_set_give_back(&self->set);
	self->queue = NULL;
}

static enum device_answer queue_leave(struct device_queue *self, gate_enter *enter)
{
	enum device_answer answer = queue_enter(self, enter);

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

static bool queue_close(struct device_queue *self, gate_enter *enter, uint64_t limit_ns)
{
	struct patience patience = { 0, 0 };
	enum device_answer answer = queue_leave(self, enter);

	while (answer == DEVICE_LATE && limit_ns && patience_pause(&patience, GLANCE_NS, limit_ns))
		answer = queue_leave(self, enter);
	if (answer == DEVICE_LATE && limit_ns)
		answer = queue_leave(self, enter);
	if (answer == DEVICE_GONE)
		queue_drop(self);
	else if (!self->queue)
		queue_release();
	return !self->queue;
}

bool device_queue_close(struct device_queue *self, uint64_t limit_ns)
{
	return queue_close(self, hsa_gate_enter, limit_ns);
}

bool device_queue_close_alone(struct device_queue *self, uint64_t limit_ns)
{
	return queue_close(self, hsa_gate_enter_alone, limit_ns);
}
