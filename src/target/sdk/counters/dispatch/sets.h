/*
 * Devices whose kernels are counted; for each of them configs that a tool has chosen, and for each
 * config sets of packets that are made beforehand.  A set is around one kernel at a time.
 *
 * EMPTY -> FREE (made) -> TAKEN (a thread puts it into a queue: stores to memory only) -> QUEUED
 * (the device's) -> FREE, once the device has read it and the tool was asked.  What the device may
 * still write to is never given back under it.
 */
#pragma once

#include "target/sdk/counters/config_packets.h"
#include "target/sdk/counters/dispatch/choices.h"
#include "target/sdk/counters/dispatch/queues.h"
#include "target/sdk/counters/driver_lock.h"
#include "target/sdk/counters/hsa_functions.h"
#include "target/sdk/devices/work_records.h"

#define COUNTED_DEVICES CATALOG_DEVICES_MAX
#define COUNTED_CONFIGS 4u /* of a device at once */
#define COUNTED_SETS    64u

/* As AMD's headers have it. */
struct dispatch_data {
	uint64_t size;
	uint64_t internal, external;
	uint64_t start_ns, end_ns; /* 0: not known */
	struct dispatch_info info;
};
_Static_assert(sizeof(struct dispatch_data) == 168, "as in the headers");

enum set_state { SET_EMPTY, SET_FREE, SET_TAKEN, SET_QUEUED };

/* What the tool has said of its kernel. */
enum set_answer {
	ANSWER_NONE,    /* it was not asked yet */
	ANSWER_ASKING,  /* a thread is at it */
	ANSWER_COUNT,   /* to be told */
	ANSWER_NOTHING, /* it wants nothing of it, or it is no kernel */
	ANSWER_OTHER,   /* another config: it goes by uncounted */
};

/*
 * A set's word: the answer, whether its queue was destroyed (the device does nothing for it any
 * more), how often the set was used, and which thread asks the tool.  Whoever has looked at a set
 * changes the whole word, or nothing: the set may be around another kernel by now.
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

/* Which packet a set is around; apart from it, since they are searched. */
struct set_key {
	uint64_t doorbell, index; /* its queue, 0: none, and the program's packet */
};

/* Who launches a kernel: the thread that takes room for it, in this call. */
struct launch_origin {
	int32_t thread;
	uint64_t around;   /* the number of the call that launches it, where one is seen; 0 */
	uint64_t internal; /* of the call that takes room */
	uint64_t external;
};

struct counted_set {
	uint32_t state;    /* enum set_state; whoever takes it owns the rest */
	uint32_t is_mixed; /* a kernel of another queue may have run at the same time */
	uint64_t word;     /* see above */
	uint64_t signal;   /* of its read, kept: 1 until the device has read */
	struct set_key *key;
	struct counted_queue *queue;
	uint64_t queue_life;
	struct launch_origin origin;
	uint64_t seen_ns;   /* when it was first found read by the device; 0: not yet */
	uint32_t service;   /* whose tool was asked: its life, see service.h */
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
	uint32_t current;     /* the config that is expected, and one; 0: none */
	uint64_t wanted;      /* the handle of one that its tool is expected to choose */
	uint64_t missed;      /* of one that it has chosen, without packets; 0 */
	uint64_t refused;     /* of one whose packets cannot be made */
	uint32_t was_awaited; /* the first one was, by the thread that launches */
	struct config_choices choices;
	uint32_t queue_count; /* that were ever seen */
	uint32_t plain_open;  /* at least so many queues have packets that go by uncounted */
	struct driver_lock lock;
	struct counted_config configs[COUNTED_CONFIGS];
};

extern struct counted_device counted_devices[COUNTED_DEVICES];
extern uint32_t counted_device_count; /* that were ever there */

/* NULL: it is not counted. */
struct counted_device *counted_device_of(uint64_t agent);

/* Which one its packets are for; NULL: none. */
const struct counted_config *counted_config_of(const struct counted_device *device,
					       const struct counted_set *set);

/* A config's sets: all that are there, as far as they can be made.  In one's turn, outside of the
 * gate, which `enter` enters.  A status. */
typedef bool sets_enter(void);
int counted_config_make(struct counted_config *self, const struct counter_config *config,
			const struct hsa_functions *hsa, sets_enter *enter);
/* Gives back what no device has, inside the gate.  True: all of it, and the entry is free. */
bool counted_config_give_back(struct counted_config *self, const struct hsa_functions *hsa);
/* Its runtime is gone; or we are a forked child, and nothing is asked of aqlprofile. */
void counted_config_drop(struct counted_config *self, bool is_child);

/* Taken, of the config that is expected; NULL: there is none. */
struct counted_set *counted_set_take(struct counted_device *device);
void counted_set_put_back(struct counted_set *set);
/* Around the packet behind `first`: before its packets become the device's. */
void counted_set_begin(struct counted_set *set, struct counted_queue *queue, uint64_t first,
		       const struct launch_origin *origin);
/* What runs at the same time in other queues of the device is mixed with it, and it with them;
 * `set` NULL: with a packet that goes by uncounted. */
void counted_sets_mix(struct counted_device *device, const struct counted_queue *queue,
		      struct counted_set *set, const struct hsa_functions *hsa);
/* The queue of that life was destroyed: what its device has not done is lost. */
void counted_sets_lose(uint64_t queue_life, const struct hsa_functions *hsa);
/* Nothing that is under way is told. */
void counted_sets_spoil(void);
/* A thread that was asking went away by a jump, and comes again. */
void counted_sets_leave(int32_t asker);
/* Another may have it. */
void counted_set_recycle(struct counted_device *device, struct counted_set *set,
			 const struct hsa_functions *hsa);

/* Packets of the queue up to `last` went by, or go by, uncounted. */
void counted_queue_note_plain(struct counted_queue *queue, uint64_t last,
			      const struct hsa_functions *hsa);

/* All that are in a queue, or being put there. */
typedef void visit_set(struct counted_device *device, struct counted_set *set, void *data);
void counted_sets_each(visit_set *visit, void *data);
