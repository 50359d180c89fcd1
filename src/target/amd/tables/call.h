/*
 * A call of an API table on its way through limpet: the slot that its entry leads to, and the frame
 * on the caller's stack. The assembly is in shared/arch/NAME/api_call.S.
 */
#pragma once

#include "shared/arch/api_call.h"
#include "shared/arch/thunk.h"
#include "target/amd/tables/api_table.h"
#include "target/amd/tables/threads.h"

/* One function of a live API table. Updated while calls use it, one word at a time. */
struct call_slot {
	uint64_t original;
	uint32_t is_on; /* a sink wants to see the call */
	uint8_t has_vectors;
	uint8_t table;       /* enum api_table_number */
	uint16_t operation;  /* index in the table */
	uint64_t *entry;     /* in the table; NULL: never changed */
	uint8_t is_prepared; /* its function is known, or known to be unknown */
	uint8_t is_ours;     /* the entry holds limpet's stub */
	uint8_t was_put;     /* since limpet's ring has counted its stubs, see policy.c */
	uint8_t leads_here;  /* the entry held it in the last pass over all tables */
	uint8_t stack_bytes; /* of the caller's stack that are arguments */
	uint8_t is_unknown;  /* has no signature: the stack may end before its arguments do */
	uint8_t is_unnamed;  /* nor a name that limpet knows */
	uint8_t is_first;    /* of the first live table of its kind, which tools see */
	uint8_t watch;       /* number of its handlers, see watch.h; 0: none */
	uint8_t watching;    /* bits of watch.h */
	uint8_t is_recorded; /* limpet's ring records it */
	uint8_t stream_use, stream_argument;   /* see sinks/sdk/devices/streams.h */
	uint16_t resets;                       /* see intercept_resets() */
	uint64_t callbacks, buffers, extended; /* bits: contexts of tools with this service */
};
_Static_assert(sizeof(struct call_slot) == SLOT_SIZE, "as assembly knows it");
_Static_assert(offsetof(struct call_slot, is_on) == SLOT_IS_ON, "as assembly knows it");
_Static_assert(offsetof(struct call_slot, has_vectors) == SLOT_VECTORS, "as assembly knows it");

#define CALL_KEPT_MAX 4u

struct call_frame {
	uint64_t integers[8];
	unsigned char vectors[8][16];
	struct call_slot *slot;
	uint64_t indirect;
	uint64_t results[2];
	unsigned char vector_results[2][16];
	const uint64_t *caller; /* the caller's stack arguments; its frame record lies below */
	uint64_t stack_bytes;   /* of these that the original gets */
	/* Fields below are not used by the assembly. */
	struct call_thread *thread;  /* NULL: nothing needs it, or the table of threads is full */
	uint64_t begin;              /* in ticks, also the call's number as a cause; 0: not read */
	uint64_t internal, ancestor; /* correlation ids of the SDK; 0: no tool needs one */
	uint8_t watched;     /* `watching` at the begin: what has had its before gets its after */
	uint8_t is_recorded; /* likewise */
	uint8_t was_in;      /* the entry did not hold the original before the call */
	uint32_t asked;      /* how often HIP has called back during the call */
	uint64_t kept[CALL_KEPT_MAX]; /* from a handler before the call to the one after it */
};
_Static_assert(offsetof(struct call_frame, slot) == CALL_SLOT, "as assembly knows it");
_Static_assert(offsetof(struct call_frame, results) == CALL_RESULTS, "as assembly knows it");
_Static_assert(offsetof(struct call_frame, caller) == CALL_CALLER, "as assembly knows it");
_Static_assert(offsetof(struct call_frame, stack_bytes) == CALL_STACK, "as assembly knows it");

/* An argument by its position, as passed; structures count as the words that they take. */
static inline uint64_t call_argument(const struct call_frame *frame, unsigned index)
{
	return index < ARGUMENT_REGISTERS ? frame->integers[index]
					  : frame->caller[index - ARGUMENT_REGISTERS];
}

static inline bool call_has_failed(const struct call_frame *frame)
{
	return (int32_t)frame->results[0] != 0;
}

static inline const struct api_table *call_table(const struct call_slot *slot)
{
	return &api_tables[slot->table];
}

extern struct call_slot call_slots[CALL_SLOTS];
extern const unsigned char call_stubs[];

static inline uint64_t call_stub(const struct call_slot *slot)
{
	return (uint64_t)call_stubs + (uint64_t)(slot - call_slots) * CALL_STUB_SIZE;
}

/* The slot whose stub this is; NULL: another function. */
static inline struct call_slot *call_slot_of(uint64_t function)
{
	uint64_t distance = function - (uint64_t)call_stubs;

	return distance < (uint64_t)CALL_SLOTS * CALL_STUB_SIZE
		       ? &call_slots[distance / CALL_STUB_SIZE]
		       : NULL;
}

/* Called by the assembly. False: the call goes straight to the original function. */
bool call_enter(struct call_frame *frame);
void call_exit(struct call_frame *frame);
