/*
 * One enqueue call, for commands.c, which follows it, and command_kinds.c, which knows what it asks
 * a device to do.
 */
#pragma once

#include "target/domains/opencl/opencl.h"

#define OBJECTS_MAX 4096u /* of those that a call lists */

/* Indexes in struct hook_around. */
enum { KEPT_EVENT, KEPT_POINTER, KEPT_SESSION, KEPT_SHADOW };

/* A command that was accepted. */
struct accepted {
	const struct hook_around *around;
	const struct opencl_vendor *vendor;
	struct opencl_queue *queue;
	const struct description *description;
	uint64_t end;
};

typedef void describe_function(const struct accepted *accepted, struct opencl_work *work);

/* Arguments by number; 0, which is the queue, means none. */
struct description {
	describe_function *describe;
	uint8_t event, blocking;
	uint8_t size;          /* of a copy: bytes, or... */
	uint8_t region, image; /* ...three numbers, of bytes or of this image's elements */
	uint8_t to, from, direction;
};

typedef int32_t event_function(opencl_object event);

/* command_kinds.c, by entry; all zeros: it is no command. */
extern const struct description opencl_descriptions[OPENCL_ENTRIES];
