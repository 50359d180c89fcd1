/*
 * Counters of single kernels: the services that tools have configured, and which one the engine
 * works for. The engine works for one service at a time.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/dispatch/sets.h"
#include "target/amd/sinks/sdk/counters/evaluate.h"

/* Types from AMD's headers. */
typedef void dispatch_function(struct dispatch_data data, struct sdk_handle *config,
			       uint64_t *user_data, void *arguments);
typedef void dispatch_record_function(struct dispatch_data data, struct counter_record *records,
				      size_t count, uint64_t user_data, void *arguments);

/* Configured once for a context, and kept with it. */
struct dispatch_service {
	uint32_t is_set;
	uint32_t life; /* of this entry; sets store it */
	uint32_t context, context_life;
	int32_t tool;
	uint32_t thread;          /* index in delivery.c of the collecting thread */
	struct sdk_handle buffer; /* 0: results go to the callback */
	dispatch_function *choose;
	void *choose_data;
	dispatch_record_function *record;
	void *record_data;
};

/* The service whose context is active; NULL: none. If two are, of which the second one is about to
 * be refused, the one that the engine keeps. */
struct dispatch_service *dispatch_service_active(void);
void dispatch_service_keep(uint32_t life);
/* The service with that life, even if its context is stopped; NULL: not configured any more. */
struct dispatch_service *dispatch_service_of(uint32_t life);
/* Is a service of another context active? */
bool dispatch_service_has_other(unsigned context);
/* Does the context have a service? */
bool dispatch_service_is_of(unsigned context);

/* May the tool be called for it now? Called on a thread that has entered the tool. */
bool dispatch_service_may_call(const struct dispatch_service *service);
/* The tool is being detached: do not call it any more; or it is attached again. */
void dispatch_services_hush(int tool, bool is_hushed);
/* Contexts of a tool were forgotten. */
void dispatch_services_forget(int tool);
