/*
 * What HIP has asked and not yet reported: launches, each with what the launching thread knew.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define EXTERNALS_MAX 4u

enum { COMMAND_KERNEL = 0, COMMAND_COPY = 1, COMMANDS };

/* What the launching thread knew. */
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
	bool has_returned; /* the call that it belongs to */
};

/* Room for them; false when there is none. */
bool questions_open(void);
/* In a forked child. */
void questions_adopt(void);

/* Where the reports of a stream come from: the device above, the queue below, and one; 0: that is
 * not known yet. */
uint64_t questions_queue(uint64_t stream);

void question_note(const struct launch *launch);

/* The one that a report of this queue belongs to, to be ended when all was told of it; 0: none. */
uint32_t question_take(uint32_t command, uint64_t queue, struct launch *ret);
/* True: it was the last of a call that has returned, and its number is used no more. */
bool question_end(uint32_t token, uint64_t internal);

/* See work_end_call(). */
bool questions_end_call(uint64_t internal, bool has_failed);
