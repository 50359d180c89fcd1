/*
 * Stacks that the caller has in hand: frames that get their names when they are asked for.
 */
#pragma once

#include "host/recorder/samples/code_list.h"

#include <pthread.h>

/* Any thread. */
struct stack_names {
	pthread_mutex_t lock; /* of what the list knows */
	struct code_list *codes;
};

struct limpet_stack {
	struct stack_names *names;
	const struct recorded_frame *frames;
	size_t count;
};
