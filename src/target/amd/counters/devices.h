/*
 * Devices that count, and their packet sets, made in advance: each is around one kernel at a time.
 */
#pragma once

#include "target/amd/counters/packet_sets.h"
#include "target/amd/counters/request.h"
#include "target/amd/events/events.h"
#include "target/amd/hsa/functions.h"
#include "target/amd/hsa/pending.h"

#define SETS_OF_DEVICE   64u
#define VALUES_MAX       1024u
#define COUNTER_SETS_MAX (COUNTER_DEVICES_MAX * SETS_OF_DEVICE)

/* Sets are never freed while the device may still write to their memory. */
enum set_state {
	SET_EMPTY,
	SET_FREE,
	SET_TAKEN,
	SET_ABANDONED, /* its session is over, and it is still in use (enum set_work) */
	SET_STALE,     /* not in use any more: freed by the next session */
};

/* The user of the set's packets, and of the memory that they write. */
enum set_work {
	WORK_NONE,
	WORK_DEVICE,  /* its packets are in a queue and not executed */
	WORK_READING, /* a thread of the runtime's reads the counts */
};

/* The known parts of a counted kernel. */
enum set_part {
	PART_COUNTS = 1, /* the device has read the counters */
	PART_TIMES = 2,  /* the kernel has ended, and its times are final */
	PART_WRITTEN = 4,
};

/* The packet that a set is around; a separate array, because it is searched. */
struct set_key {
	uint64_t doorbell, index; /* the queue's doorbell, 0: none; the application packet */
};

struct counter_set {
	uint32_t state;  /* enum set_state; the thread that stores SET_TAKEN owns the rest */
	uint32_t parts;  /* bits: enum set_part */
	uint64_t signal; /* completes its read packet, kept; 0: not made yet */
	uint32_t work;   /* enum set_work */
	struct set_key *key;
	struct packet_set aql;
	struct counting_device *device;
	uint64_t *values; /* VALUES_MAX */
	uint32_t value_count;
	bool is_cut; /* more values than expected: none of them is valid */
	/* About the kernel: */
	uint64_t asked;            /* when it was enqueued, in ticks */
	struct device_times times; /* of its execution; begin_ns 0: unknown */
	uint32_t plain_turn;       /* the device's, when the slots were reserved */
	bool is_kernel, is_mixed;
	struct hsa_command command;
	/* Numbers each kernel that the set was around. `gone` and `left` refer to such a number,
	 * because the set may be around another kernel by the time they are stored. */
	uint64_t use;
	uint64_t gone; /* the use whose queue was destroyed before the device's read */
	uint64_t left; /* twice the use whose queue was forgotten; plus 1: it was mixed */
};

struct counting_device {
	uint64_t agent, node;
	struct pmc_agent handle;
	/* The properties that the handle was registered with: the library cannot unregister a
	 * handle, so each device is registered once for all sessions. */
	struct requested_device registered;
	uint64_t ids[VALUES_MAX]; /* of values, as in records, in the library's order */
	uint32_t id_count;
	uint32_t is_ready;
	uint32_t plain_turn; /* number of uncounted packets */
	uint32_t plain_open; /* number of queues with uncounted packets that may not have ended */
	struct set_key keys[SETS_OF_DEVICE];
	struct counter_set sets[SETS_OF_DEVICE];
};

/* Reasons why nothing can be counted. */
enum counting_fault {
	COUNTING_FINE,
	COUNTING_NO_LIBRARY,
	COUNTING_NO_FUNCTIONS, /* of HSA */
	COUNTING_NO_AGENT,     /* unknown to aqlprofile */
	COUNTING_NO_EVENT,     /* unknown block or event */
	COUNTING_NO_PACKETS,   /* too many events, or no memory */
	COUNTING_TOO_MANY,     /* more than VALUES_MAX values */
	COUNTING_NO_QUEUE,     /* limpet's queue could not be created */
	COUNTING_TAKEN,        /* by a tool of AMD's SDK */
};

/* Makes the requested sets, for the devices that HSA knows. On limpet's threads. */
enum counting_fault counting_devices_begin(const struct counter_request *request);
/* Frees sets that no device uses. On limpet's threads, while the runtime exists. */
void counting_devices_end(void);
/* Number of signals of freed sets whose last handler call is still to come. */
uint32_t counting_signals_left(void);
/* Frees nothing: a thread may still be writing packets into a queue. */
void counting_devices_leave(void);
/* Drops all sets: the runtime was shut down, and freed their memory. */
void counting_devices_forget(void);

/* Reads the device's counts into set->values; false: they are incomplete. */
bool counting_set_read(struct counter_set *set);

/* By index, below COUNTER_DEVICES_MAX; NULL: there is none. */
struct counting_device *counting_device_at(unsigned index);
/* NULL: no counting device. */
struct counting_device *counting_device_of(uint64_t agent);
void counting_sets_each(void (*visit)(struct counter_set *set, void *data), void *data);
const struct aqlprofile *counting_library(void);
