/*
 * One enqueue call: shared by commands.c, which follows the command, and command_kinds.c, which
 * describes the device work.
 */
#pragma once

#include "target/domains/opencl/opencl.h"

#define OBJECTS_MAX 4096u /* of a call's list */

/* Indices of hook_around.kept. */
enum { KEPT_EVENT, KEPT_POINTER, KEPT_SESSION, KEPT_SHADOW };

/* A command that the driver accepted. */
struct accepted {
	const struct hook_around *around;
	const struct opencl_vendor *vendor;
	struct opencl_queue *queue;
	const struct description *description;
	uint64_t end;
};

typedef void describe_function(const struct accepted *accepted, struct opencl_work *work);

/* Arguments by index; 0, which is the queue, means none. */
struct description {
	describe_function *describe;
	uint8_t event, blocking;
	uint8_t size;          /* of a copy: an argument in bytes, or... */
	uint8_t region, image; /* ...three numbers, in bytes or in elements of this image */
	uint8_t to, from, direction;
};

/* command_kinds.c, by entry; all zeros: the function enqueues no command. */
extern const struct description opencl_descriptions[OPENCL_ENTRIES];
