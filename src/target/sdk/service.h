/*
 * Calls of API tables on their way through us: the slots that were changed, and what each call
 * carries.  shared/arch/NAME/service.S is the way.
 */
#pragma once

#include "shared/arch/service.h"
#include "target/sdk/signatures/signature.h"
#include "target/sdk/threads.h"

#define SEEN_MAX        8u /* contexts that see one call */
#define STREAM_DATA_MAX 4u

/* A function of an API table.  Changed while calls go through it, by single words. */
struct sdk_slot {
	uint64_t original;
	uint32_t is_on; /* some context wants to see it */
	uint32_t stack_bytes;
	uint64_t callbacks, buffers, extended; /* bits: of active contexts that want it so */
	const struct api_table *table;
	uint16_t operation;
	bool is_ours;                        /* its entry holds our stub */
	uint8_t watch;                       /* of watch.h: which of the list, and one; 0: none */
	uint8_t watching;                    /* bits of watch.h: what active contexts need it for */
	uint8_t stream_use, stream_argument; /* of streams.h; which argument */
	bool has_vectors;                    /* arguments come in vector registers */
	uint64_t *entry;                     /* of the table; NULL: it was never changed */
};
_Static_assert(sizeof(struct sdk_slot) == SLOT_SIZE, "as assembly knows it");
_Static_assert(offsetof(struct sdk_slot, has_vectors) == SLOT_VECTORS, "as assembly knows it");
_Static_assert(API_SLOTS == SERVICE_SLOTS, "each has a stub");

/* One context that sees a call. */
struct seen_by {
	uint32_t life; /* of its entry, when the call began */
	uint8_t context;
	bool has_callback;
	uint64_t external, user_data;
};

/* What tools see as the payload: with the result right behind the arguments of that table. */
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
	/* Of our own: */
	struct sdk_thread *thread;
	uint64_t internal, ancestor, begin;
	uint32_t seen_count;
	bool has_arguments; /* the payload was filled */
	bool was_in;        /* its entry held our stub before, of those that are watched for all */
	bool is_reserved; /* room was taken for it, with packets of ours around: its index below */
	uint8_t watched;  /* what for, when it began: what was done before is undone after */
	uint64_t kernel;  /* the one that it launches, where somebody wants to know; 0 */
	uint32_t asked;   /* how often HIP has asked in it whether to report */
	uint64_t reserved;
	struct seen_by seen[SEEN_MAX];
	/* Contexts (and one) that were told of a stream's use, and their data until it is over. */
	uint8_t stream_contexts[STREAM_DATA_MAX];
	uint64_t stream_data[STREAM_DATA_MAX];
	struct api_payload payload;
};
_Static_assert(offsetof(struct sdk_frame, caller) == SERVICE_CALLER, "as assembly knows it");
_Static_assert(sizeof(struct sdk_frame) <= SERVICE_FRAME, "as assembly knows it");

extern struct sdk_slot service_slots[SERVICE_SLOTS];
extern struct call_layout service_layouts[SERVICE_SLOTS];
extern const unsigned char service_stubs[];

/* Called by service.S.  Enter: false when the call is to go its way as if we were not there. */
bool service_enter(struct sdk_frame *frame);
void service_exit(struct sdk_frame *frame);

/* Contexts that are told when a correlation id is used no more; bits. */
extern uint64_t service_retirements;

/* The next correlation id. */
uint64_t service_next_id(void);

/* Tells one context of something that is no call: on the calling thread, at once. */
struct service_event {
	int kind, operation, phase;
	void *payload;
	uint64_t internal, ancestor;
	uint64_t thread;          /* whose doing it is; 0: the calling one */
	const uint64_t *external; /* NULL: what that thread has now */
};
void service_tell(unsigned context, const struct service_event *event, uint64_t *user_data);

/* Tells contexts that the id is used no more. */
void service_retire(uint64_t internal);

/* Asks a context for an external id; leaves *value where it does not answer. */
void service_request(unsigned context, int kind, int operation, uint64_t internal, uint64_t *value);
