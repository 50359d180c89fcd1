/*
 * Counters of whole devices, for tools that read them when they want to.
 */
#pragma once

#include "target/sdk/counters/evaluate.h"

/* Contexts have started or stopped: counting does, too.  Forgotten: that tool's are gone; -1. */
void device_service_follow(int forgotten);
/* Why the context that has just started cannot count: a status. */
int device_service_fault(unsigned context);
/* Has a device that was never done with a packet of ours memory of it? */
bool device_service_is_left(void);
/* In a forked child. */
void device_service_adopt(void);

struct limpet_context;
typedef int set_config_function(struct limpet_context context, struct sdk_handle config);
typedef void choose_function(struct limpet_context context, struct sdk_handle agent,
			     set_config_function *set_config, void *data);

/* What a tool has configured. */
struct device_wish {
	uint32_t context, context_life;
	int32_t tool;
	struct sdk_handle agent, buffer;
	choose_function *choose;
	void *data;
};
int device_service_add(const struct device_wish *wish);

/* Reads the services of a context; a status.  What was read is valid in the call. */
typedef int device_take(const struct device_wish *wish, const struct counter_records *records,
			void *data);
int device_service_read(unsigned context, device_take *take, void *data);
