/*
 * Traced calls of API tables: the slots whose entries lead to limpet's stubs, and what each call
 * carries. The assembly is in shared/arch/NAME/service.S.
 */
#pragma once

#include "shared/arch/service.h"
#include "target/amd/tables/signature.h"
#include "target/amd/tables/threads.h"

#define SEEN_MAX        8u /* contexts that see one call */
#define STREAM_DATA_MAX 4u

/* One function of an API table. Updated while calls use it, one word at a time. */
struct sdk_slot {
	uint64_t original;
	uint32_t is_on; /* some context wants to see the call */
	uint32_t stack_bytes;
	uint64_t callbacks, buffers, extended; /* bits: active contexts with this service */
	const struct api_table *table;
	uint16_t operation;
	bool is_ours;                        /* the entry holds limpet's stub */
	uint8_t watch;                       /* number in watch.h, 0: none */
	uint8_t watching;                    /* bits of watch.h, for active contexts */
	uint8_t stream_use, stream_argument; /* enum stream_use; which argument */
	bool has_vectors;                    /* has arguments in vector registers */
	uint64_t *entry;                     /* in the table; NULL: never changed */
};
_Static_assert(sizeof(struct sdk_slot) == SLOT_SIZE, "as assembly knows it");
_Static_assert(offsetof(struct sdk_slot, has_vectors) == SLOT_VECTORS, "as assembly knows it");
_Static_assert(API_SLOTS == SERVICE_SLOTS, "each has a stub");

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

struct sdk_frame {
	uint64_t integers[8];
	unsigned char vectors[8][16];
	struct sdk_slot *slot;
	uint64_t indirect;
	uint64_t results[2];
	unsigned char vector_results[2][16];
	const uint64_t *caller; /* the caller's stack arguments */
	/* Fields below are not used by the assembly. */
	struct sdk_thread *thread;
	uint64_t internal, ancestor, begin;
	uint32_t seen_count;
	bool has_arguments; /* the payload was filled */
	bool was_in;        /* of watches for all: the entry held limpet's stub before the call */
	bool is_reserved;   /* slots are reserved around the packet: `reserved` is the index */
	uint8_t watched;    /* `watching` at the begin: what has had its before gets its after */
	uint64_t kernel;    /* the kernel that the call launches, if a context wants it; 0 */
	uint32_t asked;     /* how often HIP has called back during the call */
	uint64_t reserved;
	struct seen_by seen[SEEN_MAX];
	/* Contexts (index + 1) notified of a stream's use, and their data until it ends. */
	uint8_t stream_contexts[STREAM_DATA_MAX];
	uint64_t stream_data[STREAM_DATA_MAX];
	struct api_payload payload;
};
_Static_assert(offsetof(struct sdk_frame, caller) == SERVICE_CALLER, "as assembly knows it");
_Static_assert(sizeof(struct sdk_frame) <= SERVICE_FRAME, "as assembly knows it");

extern struct sdk_slot service_slots[SERVICE_SLOTS];
extern struct call_layout service_layouts[SERVICE_SLOTS];
extern const unsigned char service_stubs[];

/* Called by service.S. False: the call goes straight to the original function. */
bool service_enter(struct sdk_frame *frame);
void service_exit(struct sdk_frame *frame);

/* Bits: contexts that get a record when a correlation id is retired. */
extern uint64_t service_retirements;

/* The next correlation id. */
uint64_t service_next_id(void);

/* Reports an event that is no API call to one context, synchronously. */
struct service_event {
	int kind, operation, phase;
	void *payload;
	uint64_t internal, ancestor;
	uint64_t thread;          /* that caused it; 0: the calling thread */
	const uint64_t *external; /* NULL: the thread's current external id */
};
void service_tell(unsigned context, const struct service_event *event, uint64_t *user_data);

/* Writes the retirement records of a correlation id. */
void service_retire(uint64_t internal);

/* Requests an external id from a context; keeps *value if the tool does not answer. */
void service_request(unsigned context, int kind, int operation, uint64_t internal, uint64_t *value);
