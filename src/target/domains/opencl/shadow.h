/*
 * What the files about queues of ours share, see shadow.c.
 *
 * shadow.c         which queue a call takes; sessions
 * shadow_order.c   commands keep their order over a change of queues
 * shadow_slots.c  the shadows that there are, and who uses them
 * shadow_unused.c  those that the program has no use for any more
 * shadow_twin.c    makes a queue like the program's
 */
#pragma once

#include "target/domains/opencl/opencl.h"

#define SHADOWS_MAX 256u

/* Where calls go; a shadow goes through these once. */
enum side {
	TO_OURS, /* to the program's, while the change is under way */
	AT_OURS,
	TO_PROGRAMS, /* to ours, likewise */
	AT_PROGRAMS,
};

struct opencl_shadow {
	uint32_t users; /* calls, commands and markers under way, and one while it is in use */
	uint32_t side;
	uint32_t is_closed, was_released;
	const struct opencl_vendor *vendor;
	opencl_object programs, ours; /* queues, one reference of each is ours */
	opencl_object context;
	uint32_t context_references; /* that our queue has */
	struct opencl_queue *queue;  /* the program's, as it was met in `session` */
	uint32_t session;
	struct opencl_queue view; /* ours, as records know it */
};

typedef int32_t marker_function(opencl_object queue, uint32_t count, const opencl_object *waits,
				opencl_object *ret);

/* shadow_slots.c: kept ones stay until they are dropped, and the last who drops one puts
 * both queues down. */
struct opencl_shadow *shadow_at(unsigned index);
bool shadow_try_keep(struct opencl_shadow *shadow);
/* The one that the queue has, kept; NULL. */
struct opencl_shadow *shadow_find(const struct opencl_queue *queue);
/* A free one, which nobody finds before it is filled in, or NULL; and where nothing came of it. */
struct opencl_shadow *shadow_take_slot(void);
void shadow_give_slot_back(struct opencl_shadow *shadow);
/* It is in use from now on, and kept. */
void shadow_fill(struct opencl_shadow *shadow, const struct opencl_vendor *vendor,
		 struct opencl_queue *queue, opencl_object context, opencl_object ours);

/* shadow_order.c */
enum side shadow_side(const struct opencl_shadow *shadow);
bool shadow_step(struct opencl_shadow *shadow, uint32_t from, uint32_t to);
/* What is enqueued in one from now on comes after all that is in the other. */
bool shadow_order(struct opencl_shadow *shadow, opencl_object from, opencl_object to);
/* Where nothing else can be done about it. */
void shadow_order_or_say(struct opencl_shadow *shadow, opencl_object from, opencl_object to);
/* It is not used any more: its last user puts it down. */
void shadow_close(struct opencl_shadow *shadow);
/* Back to the program's queue, once and for all.  Who has kept it calls this. */
void shadow_go_back(struct opencl_shadow *shadow);
bool event_is_done(const struct opencl_vendor *vendor, opencl_object event);

/* shadow_twin.c */
bool twin_is_possible(const struct opencl_vendor *vendor);
/* 0 when the driver refuses. */
opencl_object twin_make(const struct opencl_vendor *vendor, opencl_object queue,
			opencl_object context, opencl_object device);
uint32_t queue_references(const struct opencl_vendor *vendor, opencl_object queue);
uint32_t context_references(const struct opencl_vendor *vendor, opencl_object context);
