/*
 * Launches for which HIP has called back and not yet reported, each with its thread's state.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define EXTERNALS_MAX 4u

enum { COMMAND_KERNEL = 0, COMMAND_COPY = 1, COMMANDS };

/* State of the launching thread. */
struct launch {
	uint64_t stream, internal, ancestor, to, from;
	uint64_t dispatch, kernel;
	uint32_t thread, command;
	uint32_t blocks[3], threads[3], shared_bytes;
	struct {
		uint32_t context, life;
		uint64_t value, user_data;
	} externals[EXTERNALS_MAX];
	uint32_t external_count;
	bool has_returned; /* the call that launched it */
};

/* Maps the ring; false: no memory. */
bool questions_open(void);
/* In a forked child. */
void questions_adopt(void);

/* The queue that reports a stream, + 1: device number in the upper half, queue in the lower; 0: not
 * known yet. */
uint64_t questions_queue(uint64_t stream);

void question_note(const struct launch *launch);

/* The launch of a report of this queue; pass the token to question_end() after it; 0: none. */
uint32_t question_take(uint32_t command, uint64_t queue, struct launch *ret);
/* True: the last launch of a call that has returned, so its id can be retired. */
bool question_end(uint32_t token, uint64_t internal);

/* See work_end_call(). */
bool questions_end_call(uint64_t internal, bool has_failed);
