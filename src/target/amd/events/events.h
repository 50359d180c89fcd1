/*
 * What the engine reports, and to whom: kernels, copies, memory, scratch, counts and windows of
 * devices, and calls. One sink serves tools of AMD's SDK; the other one is limpet's tracer, while
 * it is attached (subscriber.h). Sinks are called on the thread that finds out about an event:
 * they never wait.
 */
#pragma once

#include "shared/wire/record.h"

#include <stdbool.h>

struct agent_table;
struct call_frame;
struct hsa_queue;
struct launch;
struct thread_call;

#define DEVICE_NONE UINT64_MAX /* an unknown device */

/* When a device worked. Nanoseconds are those of CLOCK_BOOTTIME; 0: unknown. Ticks tell when the
 * work was enqueued, and when limpet found out that it had ended. */
struct device_times {
	uint64_t begin_ns, end_ns;
	uint64_t asked_ticks, seen_ticks;
};

struct dispatch_event {
	const char *name;   /* NULL: unknown */
	uint64_t name_hash; /* HIP: of the name, never 0 */
	uint64_t ring_name; /* events_name() of it; 0: not called */
	uint64_t object;    /* in its packet; 0: unknown */
	uint64_t dispatch;  /* its number, from 1 */
	uint64_t device;    /* the number of its node; 0 is the host */
	uint64_t queue;     /* the runtime's number of its queue */
	uint64_t stream;    /* HIP's; 0: the default stream, or unknown */
	uint64_t thread;    /* that enqueued it; 0: unknown */
	uint64_t cause;     /* begin of the call that did; 0: unknown */
	uint32_t grid[3], group[3];
	uint64_t private_bytes, group_bytes;
	struct device_times times;
	bool is_of_hip;
	struct launch *launch; /* HIP: what tools know about its call; NULL: nothing */
};

struct copy_event {
	uint64_t bytes, to_device, from_device, to, from;
	enum copy_direction direction;
	uint64_t device, queue, stream, thread, cause; /* as above; device: of the queue */
	struct device_times times;
	bool is_of_hip;
	struct launch *launch;
};

/* Device memory that a call of HSA has allocated or freed. */
struct memory_event {
	enum memory_operation operation;
	uint64_t bytes, address, device;
	uint64_t cause; /* the call of HIP around it, else the call itself */
	uint64_t end;   /* in ticks */
	const struct call_frame *frame;
};

struct scratch_event {
	enum memory_operation operation;
	uint64_t bytes, flags, begin, end; /* in ticks */
	uint64_t thread;
	const struct hsa_queue *queue; /* NULL: unknown */
};

/* Values that a device has counted; the same number for each reading of a request. */
struct event_counts {
	const uint64_t *ids, *values; /* as in struct record_count */
	uint32_t count;
};

/* Flags of a counted kernel. */
#define COUNTER_MIXED 1u /* others were counted at the same time, or may have run uncounted */
#define COUNTER_UNTIMED \
	2u /* begin and end are those of the request and the read: execution times are unknown */
#define COUNTER_INCOMPLETE                                                               \
	4u /* no counts: unfinished when the agent detached, or its queue or runtime was \
	      destroyed, or not completely read or written */
#define COUNTER_OTHER 8u /* no counted kernel: packets from before the queue was known */

/* A counted kernel. */
struct counted_event {
	struct dispatch_event kernel;
	struct event_counts counts;
	uint32_t flags;
};

/* A reading of a whole device that has counted since `begin`; both in ticks. */
struct window_event {
	uint64_t device, begin, at;
	struct event_counts counts;
};

struct amd_sink {
	uint32_t size; /* of this struct */
	/* Does it want records of that domain now? */
	bool (*wants)(enum trace_domain domain);
	void (*kernel)(const struct dispatch_event *event);
	void (*copy)(const struct copy_event *event);
	void (*memory)(const struct memory_event *event);
	void (*scratch)(const struct scratch_event *event);
	/* For tools only. Does an attached tool want the domain, once its contexts are started? */
	bool (*may_want)(enum trace_domain domain);
	/* HIP asks whether to report a launch, in `call` and its frame; either may be NULL. */
	void (*launch)(struct launch *launch, enum trace_domain domain,
		       const struct thread_call *call, struct call_frame *frame);
	/* HIP has limpet's callback now; NULL: no more. */
	void (*hip_came)(const struct agent_table *hip);
	/* For the ring only. */
	void (*call)(const struct call_frame *frame, uint64_t end);
	void (*counted)(const struct counted_event *event);
	void (*window)(const struct window_event *event);
	void (*stream_end)(uint64_t stream);
	/* Writes the name of an HSA kernel when it is enqueued; returns its number. */
	uint64_t (*name)(const char *name, uint64_t object);
	void (*say)(unsigned note); /* enum amd_note, see notes.h */
	void (*consult)(void);      /* waits, up to a limit, for limpet's thread to look again */
	void (*lose)(void);         /* a record, because the machine's counter may not be read */
};

/* The sink of tools; set once. The ring; NULL: no tracer is attached. */
void events_use_tools(const struct amd_sink *sink);
void events_use_ring(const struct amd_sink *sink);

/* The ring, in the process that has attached it; NULL: there is none. */
const struct amd_sink *events_ring(void);

/* Does any sink want it? Do tools, or may they? */
bool events_wanted(enum trace_domain domain);
bool events_tools_want(enum trace_domain domain);
bool events_tools_may_want(enum trace_domain domain);

/* A word that many threads change, in a cache line that has nothing else. */
struct busy_word {
	uint64_t value;
} __attribute__((aligned(64)));

/* The number of the next kernel dispatch, which the ring and tools share. */
extern struct busy_word events_dispatches;
static inline uint64_t events_dispatch(void)
{
	return __atomic_add_fetch(&events_dispatches.value, 1, __ATOMIC_RELAXED);
}

/* Report an event to all sinks. */
void events_kernel(const struct dispatch_event *event);
void events_copy(const struct copy_event *event);
void events_memory(const struct memory_event *event);
void events_scratch(const struct scratch_event *event);
/* Report to tools, see struct amd_sink. */
void events_launch(struct launch *launch, enum trace_domain domain, const struct thread_call *call,
		   struct call_frame *frame);
void events_hip_came(const struct agent_table *hip);
/* Report to the ring, if there is one. */
uint64_t events_name(const char *name, uint64_t object);
void events_stream_end(uint64_t stream);
void events_consult(void);
void events_say(unsigned note);
void events_lose(void);
