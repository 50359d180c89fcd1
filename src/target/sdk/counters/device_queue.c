/*
 * On threads of tools and of ours, one at a time.
 */
#include "target/sdk/counters/device_queue.h"

#include "target/runtime/patience.h"
#include "target/sdk/status.h"

#include <string.h>

#define QUEUE_PACKETS 64u
#define QUEUE_SINGLE  1u /* its type: one thread puts packets */
#define GLANCE_NS     20000u
#define VENDOR_HEADER (1u << 8 | 2u << 9 | 2u << 11) /* barrier; fences of the system */

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

int device_queue_open(struct device_queue *ret, const struct counter_config *config)
{
	int r;

	ret->queue = NULL;
	ret->under_way = STEP_NONE;
	ret->is_broken = 0;
	ret->config = *config;
	if (!hsa_functions_find(&ret->hsa))
		return SDK_HSA_NOT_LOADED;
	r = packets_make(&ret->packets, &ret->hsa, &ret->config);
	if (r)
		return r;
	if (queue_make(ret))
		return SDK_SUCCESS;
	packets_free(&ret->packets);
	return SDK_NO_PROFILE_QUEUE;
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
	self->hsa.signal_store(self->queue->doorbell, (int64_t)index);
}

static bool packet_await(struct device_queue *self, uint64_t limit_ns)
{
	struct patience patience = { 0 };

	while (self->under_way != STEP_NONE && self->hsa.signal_load(self->signal) > 0)
		if (!patience_pause(&patience, GLANCE_NS, limit_ns))
			return false;
	self->under_way = STEP_NONE;
	return true;
}

bool device_queue_step(struct device_queue *self, enum device_step step, uint64_t limit_ns)
{
	if (queue_is_broken(self) || !packet_await(self, limit_ns))
		return false;
	packet_put(self, step);
	return packet_await(self, limit_ns);
}

bool device_queue_close(struct device_queue *self, uint64_t limit_ns)
{
	if (!self->queue)
		return true;
	if (!queue_is_broken(self) && !packet_await(self, limit_ns))
		return false;
	(void)self->hsa.queue_destroy(self->queue);
	(void)self->hsa.signal_destroy(self->signal);
	packets_free(&self->packets);
	self->queue = NULL;
	return true;
}
