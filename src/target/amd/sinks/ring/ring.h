/*
 * The tracer's part of AMD's runtimes: subscribes to the engine, in the agent, and writes what it
 * reports into limpet's ring.
 */
#pragma once

#include "target/amd/subscriber.h"
#include "target/domains/runtime.h"

extern const struct runtime runtime_amd;

/* The agent's engine; NULL: another program than limpet has loaded the tracer. Called first. */
void ring_use_engine(const struct amd_engine *engine, void (*consult)(void));

/* counter_request.c: the parts of the request about counters. */
void counter_request_read(const struct trace_request *request, struct counter_request *ret);

/* imports.c: functions of runtimes without tables, by domain; and the call by which a runtime
 * registers its tables: the tables are intercepted before it returns. */
#define AMD_HOOKS 10u
extern const struct domain_hooks *const amd_hooks[AMD_HOOKS];
extern const struct traced amd_registration;
void imports_start(const struct trace_request *request, const struct amd_engine *engine);

/* calls.c */
bool calls_announce(const struct call_slot *slot);
void calls_write(const struct call_frame *frame, uint64_t end);
void calls_start(const struct amd_engine *engine);

/* records.c */
void records_start(const struct amd_engine *engine);
/* On limpet's threads, after devices were queried. */
void records_name_devices(const struct amd_engine *engine);
void record_kernel(const struct dispatch_event *event);
void record_copy(const struct copy_event *event);
void record_memory(const struct memory_event *event);
void record_scratch(const struct scratch_event *event);
void record_counted(const struct counted_event *event);
void record_window(const struct window_event *event);
void record_stream_end(uint64_t stream);
uint64_t record_name(const char *name, uint64_t object);

/* notes.c */
extern const struct note amd_notes[];

/* The wanted domains (bits) of the session; asked on any thread. */
void ring_use_domains(uint32_t domains);
bool ring_wants(enum trace_domain domain);
