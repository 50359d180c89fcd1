/*
 * Stacks held by the caller: frames are named on request.
 */
#pragma once

#include "host/recorder/samples/code_list.h"

#include <pthread.h>

/* Any thread. */
struct stack_names {
	pthread_mutex_t lock; /* guards the list */
	struct code_list *codes;
};

struct limpet_stack {
	struct stack_names *names;
	const struct recorded_frame *frames;
	size_t count;
};
