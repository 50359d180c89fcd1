/*
 * Shared by the files about limpet's queues, see shadow.c.
 *
 * shadow.c         which queue a call uses; sessions
 * shadow_order.c   keeps the order of commands over a change of queues
 * shadow_slots.c   slots and reference counts of shadows
 * shadow_unused.c  ends shadows that the application does not use any more
 * shadow_twin.c    creates a queue like the application's
 */
#pragma once

#include "target/domains/opencl/opencl.h"

#define SHADOWS_MAX 256u

/* Where calls go; a shadow steps through these once. */
enum side {
	TO_OURS, /* calls use the application's queue, the change to limpet's is under way */
	AT_OURS,
	TO_PROGRAMS, /* calls use limpet's queue, the change back is under way */
	AT_PROGRAMS,
};

struct opencl_shadow {
	uint32_t users; /* calls, commands and markers in flight; one until it is closed */
	uint32_t side;
	uint32_t is_closed, was_released;
	const struct opencl_vendor *vendor;
	opencl_object programs, ours; /* queues; limpet has one reference of each */
	opencl_object context;
	uint32_t context_references; /* references that limpet's queue has */
	struct opencl_queue *queue;  /* the application's, as described in `session` */
	uint32_t session;
	struct opencl_queue view; /* limpet's, with its number in records */
};

typedef int32_t marker_function(opencl_object queue, uint32_t count, const opencl_object *waits,
				opencl_object *ret);

/* shadow_slots.c: a kept shadow stays until it is dropped; the last drop releases both queues. */
struct opencl_shadow *shadow_at(unsigned index);
bool shadow_try_keep(struct opencl_shadow *shadow);
/* Finds and keeps the queue's shadow; NULL if there is none. */
struct opencl_shadow *shadow_find(const struct opencl_queue *queue);
/* Claims a free slot, which lookups skip until it is filled in, or NULL; frees it on failure. */
struct opencl_shadow *shadow_claim_slot(void);
void shadow_free_slot(struct opencl_shadow *shadow);
/* Publishes the shadow, with one reference for the caller. */
void shadow_fill(struct opencl_shadow *shadow, const struct opencl_vendor *vendor,
		 struct opencl_queue *queue, opencl_object context, opencl_object ours);

/* shadow_order.c */
enum side shadow_side(const struct opencl_shadow *shadow);
bool shadow_step(struct opencl_shadow *shadow, uint32_t from, uint32_t to);
/* Makes commands enqueued in `to` from now on wait for all commands in `from`. */
bool shadow_order(struct opencl_shadow *shadow, opencl_object from, opencl_object to);
/* Says a note if that fails. */
void shadow_order_or_say(struct opencl_shadow *shadow, opencl_object from, opencl_object to);
/* Ends the shadow's use: the last drop releases it. */
void shadow_close(struct opencl_shadow *shadow);
/* Returns to the application's queue for good. The caller has kept the shadow. */
void shadow_return(struct opencl_shadow *shadow);
bool event_is_done(const struct opencl_vendor *vendor, opencl_object event);

/* shadow_twin.c */
bool twin_is_possible(const struct opencl_vendor *vendor);
/* Returns 0 if the driver refuses. */
opencl_object twin_make(const struct opencl_vendor *vendor, opencl_object queue,
			opencl_object context, opencl_object device);
uint32_t queue_references(const struct opencl_vendor *vendor, opencl_object queue);
uint32_t context_references(const struct opencl_vendor *vendor, opencl_object context);
