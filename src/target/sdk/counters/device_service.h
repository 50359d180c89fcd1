/*
 * Counters of whole devices, for tools that read them when they want to.
 */
#pragma once

#include "target/sdk/counters/evaluate.h"

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
/* A status. */
int device_service_add(const struct device_wish *wish);

/* Contexts have started or stopped: counting does, too, where its tool has chosen what.  Calls no
 * tool. */
void device_services_follow(void);
/* A context has started, on this thread: its tool chooses.  Why it cannot count: a status. */
int device_services_begin(unsigned context);

/* Reads the services of a context, one after the other; a status.  `records` is the caller's room,
 * which is used for each; what was read is handed over where nobody waits for us. */
typedef int device_take(const struct device_wish *wish, const struct counter_records *records,
			void *data);
int device_services_read(unsigned context, struct counter_records *records, device_take *take,
			 void *data);

/* In a forked child. */
void device_services_adopt(void);
