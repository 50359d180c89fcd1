/*
 * Counters of single kernels, for tools: what they have configured, and whom the engine works for.
 * One at a time in a process.
 */
#pragma once

#include "target/sdk/counters/dispatch/sets.h"
#include "target/sdk/counters/evaluate.h"

/* As AMD's headers have them. */
typedef void dispatch_function(struct dispatch_data data, struct sdk_handle *config,
			       uint64_t *user_data, void *arguments);
typedef void dispatch_record_function(struct dispatch_data data, struct counter_record *records,
				      size_t count, uint64_t user_data, void *arguments);

/* Configured once for a context, and stays with it. */
struct dispatch_service {
	uint32_t is_set;
	uint32_t life; /* of this entry, which sets remember */
	uint32_t context, context_life;
	int32_t tool;
	uint32_t thread;          /* of delivery.h, which collects */
	struct sdk_handle buffer; /* 0: by the callback */
	dispatch_function *choose;
	void *choose_data;
	dispatch_record_function *record;
	void *record_data;
};

/* The one whose context is active; NULL: none.  Of two, of which the second is about to be refused,
 * the one that is kept to. */
struct dispatch_service *dispatch_service_active(void);
void dispatch_service_keep(uint32_t life);
/* That one, however its context is, as long as it is configured; NULL. */
struct dispatch_service *dispatch_service_of(uint32_t life);
/* Is another than that one active? */
bool dispatch_service_has_other(unsigned context);
/* Has a context one? */
bool dispatch_service_is_of(unsigned context);

/* May the tool be called for it now?  On a thread that counts as inside of it. */
bool dispatch_service_may_call(const struct dispatch_service *service);
/* The tool is being detached: not any more; it is attached again. */
void dispatch_services_hush(int tool, bool is_hushed);
/* Contexts of a tool were forgotten. */
void dispatch_services_forget(int tool);
