/*
 * One ring and the thread that has it now: its records on their way into the recording.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/recording/pack.h"

struct slot {
	bool is_touched; /* its pages are allocated */
	bool is_known;   /* its thread is in the recording */
	bool is_torn;    /* a record is missing: stacks and texts that follow belong to nothing */
	bool is_reading; /* the last call was one of a device: counts that follow are its own */
	bool has_unwritten_drops; /* drops that are not in the recording yet */
	struct recorded_thread thread;
	char name[16];
	struct packer packer;
	struct bytes packed; /* RECORDS_HEAD_BYTES, then records */
	struct records_head head;
	uint64_t since_ns;           /* age of the oldest record in it */
	uint64_t checked_ns;         /* when its thread was last known to live */
	uint64_t answered_ns;        /* when it last got its Python state */
	uint64_t seen[DROP_REASONS]; /* the ring's counters, which outlive its threads */
	struct recorded_drops drops;
	struct reading_draft draft;
	struct record_stack_part caller; /* of a copy of a stack that is coming in */
	struct bytes stack;              /* the parts received so far */
	struct bytes python;             /* frames of Python that belong to the next stack */
	bool is_python_cut;
};

/* A new thread has the ring. */
int slot_begin(struct slot *slot, struct recording *recording, uint32_t process,
	       const struct ring_owner *owner, struct err *err) MUST_CHECK;

/* Adds a checked record; false without memory. */
bool slot_take(struct slot *slot, const struct record *record, uint64_t now_ns);

/* Counts the ring's drops since the last call; adds them to totals. */
void slot_count_drops(struct slot *slot, const struct ring *ring, uint64_t now_ns,
		      uint64_t totals[DROP_REASONS]);

/* True when its records must be written: many, or old. */
bool slot_is_full(const struct slot *slot);
bool slot_is_due(const struct slot *slot, uint64_t now_ns);

/* Writes its records, and the number of drops. */
int slot_flush(struct slot *slot, struct recording *recording, struct err *err) MUST_CHECK;

/* Writes the name when it is another one. */
int slot_rename(struct slot *slot, struct recording *recording, const char name[16],
		struct err *err) MUST_CHECK;

/* The thread has ended; frees its records. */
void slot_end(struct slot *slot);
