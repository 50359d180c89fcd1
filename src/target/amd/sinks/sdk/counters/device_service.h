/*
 * Counters of whole devices, which tools read at any time.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/evaluate.h"

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
/* Returns a status. */
int device_service_add(const struct device_wish *wish);

/* Contexts have started or stopped: starts or stops counting of configs that their tools have
 * chosen. Calls no tool. */
void device_services_follow(void);
/* A context was started on this thread: its tool chooses. A status: why it cannot count. */
int device_services_begin(unsigned context);

/* Reads the services of a context, one after the other; a status. `records` is the caller's memory,
 * reused for each service. `take` is called without the device turn. */
typedef int device_take(const struct device_wish *wish, const struct counter_records *records,
			void *data);
int device_services_read(unsigned context, struct counter_records *records, device_take *take,
			 void *data);

/* In a forked child. */
void device_services_adopt(void);
