/*
 * What tools see: the frame of a traced call (calls.c), events, and requests for external ids.
 */
#pragma once

#include "target/amd/events/events.h"
#include "target/amd/sinks/sdk/base/abi.h"
#include "target/amd/tables/call.h"

#define SEEN_MAX        8u /* contexts that see one call */
#define STREAM_DATA_MAX 4u

/* One context that sees a call. */
struct seen_by {
	uint32_t life; /* life of the context when the call began */
	uint8_t context;
	bool has_callback;
	uint64_t external, user_data;
};

/* The payload that tools see: the arguments, then the result right behind the table's arguments. */
struct api_payload {
	uint64_t size;
	unsigned char bytes[ARGUMENTS_MAX + RESULT_MAX];
};

/* The whole frame of a call: the assembly makes room for it. */
struct tools_frame {
	struct call_frame call;
	uint64_t begin; /* behind the tools' callbacks, in ticks; 0: no context wants records */
	uint32_t seen_count;
	bool has_arguments; /* the payload was filled */
	uint64_t kernel;    /* the kernel that the call launches, if a context wants it; 0 */
	struct seen_by seen[SEEN_MAX];
	/* Contexts (index + 1) notified of a stream's use, and their data until it ends. */
	uint8_t stream_contexts[STREAM_DATA_MAX];
	uint64_t stream_data[STREAM_DATA_MAX];
	struct api_payload payload;
};
_Static_assert(sizeof(struct tools_frame) <= CALL_FRAME, "the assembly makes room for it");

static inline struct tools_frame *tools_frame_of(struct call_frame *frame)
{
	return (struct tools_frame *)frame;
}

/* The next correlation id. */
extern struct busy_word tools_ids;
static inline uint64_t tools_next_id(void)
{
	return __atomic_add_fetch(&tools_ids.value, 1, __ATOMIC_RELAXED);
}
/* Bits: contexts that get a record when a correlation id is retired. */
extern uint64_t tools_retirements;
/* Writes the retirement records of a correlation id. */
void tools_retire(uint64_t internal);

/* Reports an event that is no API call to one context, synchronously. */
struct service_event {
	int kind, operation, phase;
	void *payload;
	uint64_t internal, ancestor;
	uint64_t thread;          /* that caused it; 0: the calling thread */
	const uint64_t *external; /* NULL: the thread's current external id */
};
void service_notify(unsigned context, const struct service_event *event, uint64_t *user_data);

/* Calls the tool of the record's context. `life`: only if the context is still the one of that
 * life, which may be stopped meanwhile; NULL: only if it is active. */
void service_call_back(struct call_thread *thread, const struct callback_record *record,
		       uint64_t *user_data, const uint32_t *life);

/* Asks the context's tool for an external id. False: it has provided none. */
bool service_ask(struct call_thread *thread, unsigned context, int kind, int operation,
		 uint64_t internal, uint64_t *value);
/* Requests an external id from a context; keeps *value if the tool does not answer. */
void service_request(unsigned context, int kind, int operation, uint64_t internal, uint64_t *value);
