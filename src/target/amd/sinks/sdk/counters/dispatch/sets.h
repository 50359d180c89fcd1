/*
 * Devices whose kernels are counted; for each device the configs that a tool has chosen, and for
 * each config packet sets that are made beforehand. A set is around one kernel at a time.
 *
 * EMPTY -> FREE (made) -> TAKEN (a thread puts it into a queue, by stores to memory only) -> QUEUED
 * (the device has it) -> FREE, once the device has read it and the tool was called. Memory that the
 * device may still write to is never freed.
 */
#pragma once

#include "target/amd/hsa/functions.h"
#include "target/amd/sinks/sdk/counters/config_packets.h"
#include "target/amd/sinks/sdk/counters/dispatch/choices.h"
#include "target/amd/sinks/sdk/counters/dispatch/queues.h"
#include "target/amd/sinks/sdk/counters/driver_lock.h"
#include "target/amd/sinks/sdk/devices/work_records.h"

#define COUNTED_DEVICES CATALOG_DEVICES_MAX
#define COUNTED_CONFIGS 4u /* of a device at once */
#define COUNTED_SETS    64u

/* Layout from AMD's headers. */
struct dispatch_data {
	uint64_t size;
	uint64_t internal, external;
	uint64_t start_ns, end_ns; /* 0: not known */
	struct dispatch_info info;
};
_Static_assert(sizeof(struct dispatch_data) == 168, "as in the headers");

enum set_state { SET_EMPTY, SET_FREE, SET_TAKEN, SET_QUEUED };

/* The tool's answer for the kernel of a set. */
enum set_answer {
	ANSWER_NONE,    /* the tool was not called yet */
	ANSWER_ASKING,  /* a thread is calling the tool */
	ANSWER_COUNT,   /* report the values */
	ANSWER_NOTHING, /* the tool wants no values, or it is no kernel */
	ANSWER_OTHER,   /* another config: the kernel runs uncounted */
};

/*
 * A set's word: the answer, whether its queue was destroyed (the device executes nothing more of
 * it), how often the set was used, and which thread calls the tool. A thread changes the whole word
 * by compare-and-exchange, since the set may be around another kernel by now.
 */
#define WORD_ANSWER     0x7full
#define WORD_LOST       0x80ull
#define WORD_USE        0xffffff00ull
#define WORD_NEXT_USE   0x100ull
#define WORD_ASKER_FROM 32

static inline enum set_answer word_answer(uint64_t word)
{
	return (enum set_answer)(word & WORD_ANSWER);
}

static inline int32_t word_asker(uint64_t word)
{
	return (int32_t)(word >> WORD_ASKER_FROM);
}

static inline uint64_t word_asking(uint64_t word, int32_t asker)
{
	return (word & WORD_USE) | ANSWER_ASKING | (uint64_t)(uint32_t)asker << WORD_ASKER_FROM;
}

static inline uint64_t word_next(uint64_t word, enum set_answer answer)
{
	return ((word + WORD_NEXT_USE) & WORD_USE) | answer;
}

/* The packet that a set is around; stored apart from the set, because keys are searched. */
struct set_key {
	uint64_t doorbell, index; /* its queue, 0: none; the application packet */
};

/* Where a kernel is launched: the thread that reserves its slot, and the call. */
struct launch_origin {
	int32_t thread;
	uint64_t around;   /* id of the launching call, if one is seen; 0 */
	uint64_t internal; /* id of the call that reserves */
	uint64_t external;
};

struct counted_set {
	uint32_t state;    /* enum set_state; the thread that took it owns the rest */
	uint32_t is_mixed; /* another queue's kernel may have run at the same time */
	uint64_t word;     /* see above */
	uint64_t signal;   /* of its read packet, reused: 1 until the device has read */
	struct set_key *key;
	struct counted_queue *queue;
	uint64_t queue_life;
	struct launch_origin origin;
	uint64_t seen_ns;   /* when it was first found finished; 0: not yet */
	uint32_t service;   /* life of the service it was put for, see service.h */
	uint64_t user_data; /* the tool's */
	struct dispatch_data data;
	struct packet_set aql;
};

/* A config, and sets for it. */
struct counted_config {
	uint64_t handle;   /* 0: none */
	uint32_t is_ready; /* sets may be taken */
	uint32_t hint;
	struct config_packets packets;
	struct set_key *keys; /* COUNTED_SETS of each: mapped once, and kept */
	struct counted_set *sets;
};

struct counted_device {
	uint64_t agent; /* HSA's; 0: none */
	struct sdk_handle id;
	uint32_t node;
	uint32_t current;     /* index + 1 of the expected config; 0: none */
	uint64_t wanted;      /* handle of the config that the tool is expected to choose */
	uint64_t missed;      /* handle of a chosen config without packets; 0 */
	uint64_t refused;     /* handle of a config whose packets cannot be made */
	uint32_t was_awaited; /* a launching thread has waited for the first one */
	struct config_choices choices;
	uint32_t queue_count; /* ever seen */
	uint32_t plain_open;  /* upper bound of queues with running uncounted packets */
	struct driver_lock lock;
	struct counted_config configs[COUNTED_CONFIGS];
};

extern struct counted_device counted_devices[COUNTED_DEVICES];
extern uint32_t counted_device_count; /* ever found */

/* NULL: the device is not counted. */
struct counted_device *counted_device_of(uint64_t agent);

/* The config that the set's packets are for; NULL: none. */
const struct counted_config *counted_config_of(const struct counted_device *device,
					       const struct counted_set *set);

/* Makes all sets of a config, as far as possible. With the device turn held, outside the gate,
 * which `enter` enters. A status. */
typedef bool sets_enter(void);
int counted_config_make(struct counted_config *self, const struct counter_config *config,
			const struct hsa_functions *hsa, sets_enter *enter);
/* Frees sets that no device uses, inside the gate. True: all are freed, and so is the entry. */
bool counted_config_give_back(struct counted_config *self, const struct hsa_functions *hsa);
/* The runtime is gone; or this is a forked child, where aqlprofile must not be called. */
void counted_config_drop(struct counted_config *self, bool is_child);

/* Takes a set of the expected config; NULL: none is free. */
struct counted_set *counted_set_acquire(struct counted_device *device);
void counted_set_put_back(struct counted_set *set);
/* Puts the set around the packet after `first`; called before its packets belong to the device. */
void counted_set_begin(struct counted_set *set, struct counted_queue *queue, uint64_t first,
		       const struct launch_origin *origin);
/* Marks the set, and sets that run in other queues of the device, as mixed; `set` NULL: an
 * uncounted packet is put. */
void counted_sets_mix(struct counted_device *device, const struct counted_queue *queue,
		      struct counted_set *set, const struct hsa_functions *hsa);
/* The queue of that life was destroyed: marks sets that its device has not executed as lost. */
void counted_sets_lose(uint64_t queue_life, const struct hsa_functions *hsa);
/* Results of sets under way are not reported. */
void counted_sets_spoil(void);
/* A thread left the tool's callback by a jump, and is back. */
void counted_sets_leave(int32_t asker);
/* Frees the set for another kernel. */
void counted_set_recycle(struct counted_device *device, struct counted_set *set,
			 const struct hsa_functions *hsa);

/* Packets of the queue up to `last` run uncounted. */
void counted_queue_note_plain(struct counted_queue *queue, uint64_t last,
			      const struct hsa_functions *hsa);

/* Visits all sets in queues. */
typedef void visit_set(struct counted_device *device, struct counted_set *set, void *data);
void counted_sets_each(visit_set *visit, void *data);
