/*
 * Devices that count, and for each of them sets of packets that are made beforehand: a set is
 * around one kernel at a time.
 */
#pragma once

#include "target/amd/packet_sets.h"
#include "target/domains/amd/counters/request.h"
#include "target/domains/amd/hsa/calls.h"
#include "target/domains/amd/hsa/pending.h"

#define SETS_OF_DEVICE   64u
#define VALUES_MAX       1024u
#define COUNTER_SETS_MAX (COUNTER_DEVICES_MAX * SETS_OF_DEVICE)

/* A set is made for good: what the device may still write to is never given back under it. */
enum set_state {
	SET_EMPTY,
	SET_FREE,
	SET_TAKEN,
	SET_ABANDONED, /* its session is over, and somebody is at it (enum set_work) */
	SET_STALE,     /* nobody is any more: to be given back with the next session */
};

/* Who is at its packets, and at the memory that they write. */
enum set_work {
	WORK_NONE,
	WORK_DEVICE,  /* they are in a queue, and not done */
	WORK_READING, /* they are: a thread of the runtime's reads what came of it */
};

/* What is there of a kernel that is counted. */
enum set_part {
	PART_COUNTS = 1, /* the device has read them */
	PART_TIMES = 2,  /* the kernel is done, and when is known as far as it will be */
	PART_WRITTEN = 4,
};

/* Which packet a set is around; apart from it, since they are searched. */
struct set_key {
	uint64_t doorbell, index; /* its queue, 0: none, and the program's packet */
};

struct counter_set {
	uint32_t state;  /* enum set_state; whoever takes it owns the rest */
	uint32_t parts;  /* enum set_part, or'ed */
	uint64_t signal; /* of its read, kept; 0: none was made yet */
	uint32_t work;   /* enum set_work */
	struct set_key *key;
	struct packet_set aql;
	struct counting_device *device;
	uint64_t *values; /* VALUES_MAX */
	uint32_t value_count;
	bool is_cut; /* there are more than were expected: none of them is right */
	/* Of the kernel: */
	uint64_t asked;      /* when, in ticks */
	uint64_t begin, end; /* in ticks; 0: not known */
	uint32_t plain_turn; /* of the device, when it was reserved */
	bool is_kernel, is_mixed;
	struct hsa_command command;
	/* Each kernel that a set is around is another use of it, with a number of its own.  These
	 * are numbers, too: whoever says so may be late, and the set around another by then. */
	uint64_t use;
	uint64_t gone; /* of that use the queue is, before the device has read */
	uint64_t left; /* of that use, half of this, it is not known any more; 1: it was mixed */
};

struct counting_device {
	uint64_t agent, node;
	struct pmc_agent handle;
	/* What the handle was given for: the library has no way to give one back, so that each is
	 * asked for once, whatever sessions come. */
	struct requested_device registered;
	uint64_t
		ids[VALUES_MAX]; /* of values, as records have them; in the order of their coming */
	uint32_t id_count;
	uint32_t is_ready;
	uint32_t plain_turn; /* so many packets went by uncounted */
	uint32_t plain_open; /* queues with such whose end is not known */
	struct set_key keys[SETS_OF_DEVICE];
	struct counter_set sets[SETS_OF_DEVICE];
};

/* Why nothing can be counted. */
enum counting_fault {
	COUNTING_FINE,
	COUNTING_NO_LIBRARY,
	COUNTING_NO_FUNCTIONS, /* of HSA's */
	COUNTING_NO_AGENT,     /* aqlprofile does not know it */
	COUNTING_NO_EVENT,     /* nor such a block or event */
	COUNTING_NO_PACKETS,   /* too many, or no memory */
	COUNTING_TOO_MANY,     /* values, more than VALUES_MAX */
	COUNTING_NO_QUEUE,     /* of ours */
	COUNTING_TAKEN,        /* by a tool of AMD's SDK */
};

/* The agent's word of who counts (counting_claim.h); NULL: there is no agent.  Before the rest. */
void counting_devices_share(uint32_t *claim);

/* Makes what is asked for, for the devices that HSA knows by now.  On threads of ours. */
enum counting_fault counting_devices_begin(const struct counter_request *request);
/* Gives back what no device uses.  On threads of ours, with the runtime there. */
void counting_devices_end(void);
/* Signals of sets that were given back, and have not called for the last time. */
uint32_t counting_signals_left(void);
/* Gives nothing back: a thread may still be putting packets into a queue. */
void counting_devices_leave(void);
/* Their runtime is gone, and all memory with it. */
void counting_devices_forget(void);

/* Takes what the device has read into set->values; false: it is not whole. */
bool counting_set_read(struct counter_set *set);

/* By its index, below COUNTER_DEVICES_MAX; NULL: there is none. */
struct counting_device *counting_device_at(unsigned index);
/* NULL: none of those. */
struct counting_device *counting_device_of(uint64_t agent);
void counting_sets_each(void (*visit)(struct counter_set *set, void *data), void *data);
const struct aqlprofile *counting_library(void);
