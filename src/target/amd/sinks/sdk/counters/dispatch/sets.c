/*
 * Sets are made and freed on threads of limpet and of tools, with the device turn held; taken on
 * application threads, inside their queue calls. No lock: the thread that takes a set owns it.
 */
#include "target/amd/sinks/sdk/counters/dispatch/sets.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/runtime/hsa_gate.h"

#include <sys/mman.h>

struct counted_device counted_devices[COUNTED_DEVICES];
uint32_t counted_device_count;

struct counted_device *counted_device_of(uint64_t agent)
{
	for (unsigned i = 0; agent && i < counted_device_count; i++)
		if (__atomic_load_n(&counted_devices[i].agent, __ATOMIC_ACQUIRE) == agent)
			return &counted_devices[i];
	return NULL;
}

const struct counted_config *counted_config_of(const struct counted_device *device,
					       const struct counted_set *set)
{
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++)
		if (set >= device->configs[i].sets && set < device->configs[i].sets + COUNTED_SETS)
			return &device->configs[i];
	return NULL;
}

static bool config_map(struct counted_config *self)
{
	size_t size = COUNTED_SETS * (sizeof(struct set_key) + sizeof(struct counted_set));
	long r;

	if (self->sets)
		return true;
	r = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r <= 0 && r > -4096)
		return false;
	self->keys = (struct set_key *)r;
	for (unsigned i = 0; i < COUNTED_SETS; i++)
		((struct counted_set *)(self->keys + COUNTED_SETS))[i].key = &self->keys[i];
	/* Release: pairs with the acquire loads of `sets`; publishes the keys. */
	__atomic_store_n(&self->sets, (struct counted_set *)(self->keys + COUNTED_SETS),
			 __ATOMIC_RELEASE);
	return true;
}

static int set_make(struct counted_config *self, unsigned index, const struct hsa_functions *hsa,
		    const struct packet_events *events)
{
	struct counted_set *set = &self->sets[index];
	int r = config_packets_make(&self->packets, hsa, events, &set->aql);

	if (r)
		return r;
	/* No thread waits for the signal, so it needs no event of the driver. */
	if (hsa->signal_create(1, 1, &set->aql.agent, &set->signal)) {
		(void)packet_set_give_back(&set->aql);
		return SDK_OUT_OF_RESOURCES;
	}
	set->is_mixed = 0;
	set->key->doorbell = 0;
	__atomic_store_n(&set->state, SET_FREE, __ATOMIC_RELEASE);
	return SDK_SUCCESS;
}

/* Leaves the gate between two sets: the application may wait there. */
static int sets_make(struct counted_config *self, const struct hsa_functions *hsa,
		     const struct packet_events *events, sets_enter *enter)
{
	int r = SDK_SUCCESS;
	unsigned made = 0;

	for (unsigned i = 0; !r && i < COUNTED_SETS; i++) {
		if (!enter())
			return made ? SDK_SUCCESS : SDK_HSA_NOT_LOADED;
		r = self->sets[i].state == SET_EMPTY ? set_make(self, i, hsa, events) : SDK_SUCCESS;
		hsa_gate_leave();
		made += !r;
	}
	return made ? SDK_SUCCESS : r;
}

int counted_config_make(struct counted_config *self, const struct counter_config *config,
			const struct hsa_functions *hsa, sets_enter *enter)
{
	static struct packet_events events;
	int r;

	if (!config_map(self))
		return SDK_OUT_OF_RESOURCES;
	r = config_packets_prepare(&self->packets, config, &events);
	if (!r)
		r = sets_make(self, hsa, &events, enter);
	if (r)
		return r;
	self->handle = config->handle;
	/* Release: pairs with counted_set_acquire(). */
	__atomic_store_n(&self->is_ready, 1, __ATOMIC_RELEASE);
	return SDK_SUCCESS;
}

static bool set_give_back(struct counted_set *set, const struct hsa_functions *hsa)
{
	uint32_t is_free = SET_FREE;

	if (!__atomic_compare_exchange_n(&set->state, &is_free, SET_TAKEN, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return is_free == SET_EMPTY;
	if (!packet_set_give_back(&set->aql)) {
		__atomic_store_n(&set->state, SET_FREE, __ATOMIC_RELEASE);
		return false;
	}
	(void)hsa->signal_destroy(set->signal);
	__atomic_store_n(&set->state, SET_EMPTY, __ATOMIC_RELEASE);
	return true;
}

bool counted_config_give_back(struct counted_config *self, const struct hsa_functions *hsa)
{
	bool is_whole = true;

	for (unsigned i = 0; self->sets && i < COUNTED_SETS; i++)
		is_whole &= set_give_back(&self->sets[i], hsa);
	if (is_whole)
		self->handle = 0;
	return is_whole;
}

void counted_config_drop(struct counted_config *self, bool is_child)
{
	__atomic_store_n(&self->is_ready, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; self->sets && i < COUNTED_SETS; i++) {
		struct counted_set *set = &self->sets[i];

		if (set->state != SET_EMPTY && !is_child)
			packet_set_drop(&set->aql);
		__atomic_store_n(&set->word, word_next(set->word, ANSWER_NOTHING),
				 __ATOMIC_SEQ_CST);
		__atomic_store_n(&set->key->doorbell, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&set->state, SET_EMPTY, __ATOMIC_RELEASE);
	}
	self->handle = 0;
}

static bool set_try(struct counted_set *set)
{
	uint32_t is_free = SET_FREE;

	return __atomic_load_n(&set->state, __ATOMIC_RELAXED) == SET_FREE &&
	       __atomic_compare_exchange_n(&set->state, &is_free, SET_TAKEN, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

struct counted_set *counted_set_acquire(struct counted_device *device)
{
	uint32_t current = __atomic_load_n(&device->current, __ATOMIC_ACQUIRE), hint;
	struct counted_config *config = current ? &device->configs[current - 1] : NULL;

	if (!config || !__atomic_load_n(&config->is_ready, __ATOMIC_SEQ_CST))
		return NULL;
	hint = __atomic_fetch_add(&config->hint, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < COUNTED_SETS; i++)
		if (set_try(&config->sets[(hint + i) % COUNTED_SETS]))
			return &config->sets[(hint + i) % COUNTED_SETS];
	return NULL;
}

void counted_set_put_back(struct counted_set *set)
{
	__atomic_store_n(&set->state, SET_FREE, __ATOMIC_RELEASE);
}

void counted_set_begin(struct counted_set *set, struct counted_queue *queue, uint64_t first,
		       const struct launch_origin *origin)
{
	set->is_mixed = 0;
	set->seen_ns = 0;
	set->queue = queue;
	set->origin = *origin;
	__atomic_store_n(&set->queue_life, queue->life, __ATOMIC_RELAXED);
	__atomic_store_n(&set->key->index, first + 1, __ATOMIC_RELAXED);
	/* Publishes the set: other threads find it from now on. */
	__atomic_store_n(&set->key->doorbell, queue->doorbell, __ATOMIC_SEQ_CST);
	/* The tool may be called for it from now on. */
	__atomic_store_n(&set->word, word_next(set->word, ANSWER_NONE), __ATOMIC_SEQ_CST);
	__atomic_store_n(&set->state, SET_QUEUED, __ATOMIC_SEQ_CST);
}

static bool set_queue_is_there(const struct counted_set *set)
{
	return __atomic_load_n(&set->queue->life, __ATOMIC_SEQ_CST) == set->queue_life;
}

/* All earlier packets of its queue are done, also uncounted ones. */
static void plain_settle(struct counted_device *device, const struct counted_set *set)
{
	uint64_t plain = __atomic_load_n(&set->queue->plain, __ATOMIC_SEQ_CST);

	if (plain && (int64_t)(set->key->index - plain) >= 0 &&
	    __atomic_compare_exchange_n(&set->queue->plain, &plain, 0, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST))
		__atomic_fetch_sub(&device->plain_open, 1, __ATOMIC_SEQ_CST);
}

void counted_set_recycle(struct counted_device *device, struct counted_set *set,
			 const struct hsa_functions *hsa)
{
	uint64_t word = __atomic_load_n(&set->word, __ATOMIC_SEQ_CST);

	if (!(word & WORD_LOST) && set_queue_is_there(set))
		plain_settle(device, set);
	/* First: a thread that found the set for its former kernel must fail its exchange. */
	__atomic_store_n(&set->word, word_next(word, ANSWER_NOTHING), __ATOMIC_SEQ_CST);
	__atomic_store_n(&set->key->doorbell, 0, __ATOMIC_SEQ_CST);
	hsa->signal_store(set->signal, 1);
	__atomic_store_n(&set->state, SET_FREE, __ATOMIC_RELEASE);
}

void counted_sets_each(visit_set *visit, void *data)
{
	for (unsigned i = 0; i < counted_device_count; i++)
		for (unsigned j = 0; j < COUNTED_CONFIGS; j++) {
			struct counted_set *sets = __atomic_load_n(
				&counted_devices[i].configs[j].sets, __ATOMIC_ACQUIRE);

			for (unsigned k = 0; sets && k < COUNTED_SETS; k++)
				if (__atomic_load_n(&sets[k].state, __ATOMIC_ACQUIRE) == SET_QUEUED)
					visit(&counted_devices[i], &sets[k], data);
		}
}

struct lost_queue {
	uint64_t life;
	const struct hsa_functions *hsa;
};

static void set_lose(struct counted_device *device, struct counted_set *set, void *data)
{
	const struct lost_queue *lost = data;
	uint64_t word = __atomic_load_n(&set->word, __ATOMIC_SEQ_CST), use = word & WORD_USE;

	(void)device;
	if (__atomic_load_n(&set->queue_life, __ATOMIC_ACQUIRE) != lost->life ||
	    lost->hsa->signal_load(set->signal) <= 0)
		return;
	/* Another thread may store its answer at the same time; a set that is used again is not
	 * lost. */
	while ((word & WORD_USE) == use &&
	       !__atomic_compare_exchange_n(&set->word, &word, word | WORD_LOST, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

void counted_sets_lose(uint64_t queue_life, const struct hsa_functions *hsa)
{
	struct lost_queue lost = { queue_life, hsa };

	if (queue_life)
		counted_sets_each(set_lose, &lost);
}

static void set_spoil(struct counted_device *device, struct counted_set *set, void *data)
{
	(void)device, (void)data;
	__atomic_store_n(&set->is_mixed, 1, __ATOMIC_SEQ_CST);
}

void counted_sets_spoil(void)
{
	counted_sets_each(set_spoil, NULL);
}

static void set_leave(struct counted_device *device, struct counted_set *set, void *data)
{
	uint64_t word = __atomic_load_n(&set->word, __ATOMIC_ACQUIRE);

	(void)device;
	while (word_answer(word) == ANSWER_ASKING && word_asker(word) == *(const int32_t *)data &&
	       !__atomic_compare_exchange_n(&set->word, &word,
					    (word & ~WORD_ANSWER) | ANSWER_NOTHING, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

void counted_sets_leave(int32_t asker)
{
	counted_sets_each(set_leave, &asker);
}

static void sets_mix_of(const struct counted_config *config, uint64_t doorbell,
			struct counted_set *set, const struct hsa_functions *hsa)
{
	struct counted_set *sets = __atomic_load_n(&config->sets, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; sets && i < COUNTED_SETS; i++) {
		uint64_t other = __atomic_load_n(&sets[i].key->doorbell, __ATOMIC_SEQ_CST);

		/* A set that the device has read ended before this packet begins. */
		if (!other || other == doorbell || hsa->signal_load(sets[i].signal) <= 0)
			continue;
		__atomic_store_n(&sets[i].is_mixed, 1, __ATOMIC_SEQ_CST);
		if (set)
			__atomic_store_n(&set->is_mixed, 1, __ATOMIC_SEQ_CST);
	}
}

/* A thread publishes its packet before it checks others: of two threads one sees the other. A
 * packet begins after this, so a set that is not mixed at its end ran alone. */
void counted_sets_mix(struct counted_device *device, const struct counted_queue *queue,
		      struct counted_set *set, const struct hsa_functions *hsa)
{
	if (__atomic_load_n(&device->queue_count, __ATOMIC_SEQ_CST) < 2)
		return;
	if (set && (counted_queues_are_leaving() ||
		    (__atomic_load_n(&device->plain_open, __ATOMIC_SEQ_CST) &&
		     counted_queues_have_plain(device, queue))))
		__atomic_store_n(&set->is_mixed, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++)
		sets_mix_of(&device->configs[i], queue->doorbell, set, hsa);
}

void counted_queue_note_plain(struct counted_queue *queue, uint64_t last,
			      const struct hsa_functions *hsa)
{
	uint64_t before = __atomic_load_n(&queue->plain, __ATOMIC_SEQ_CST);

	/* Incremented before and decremented after the change: never too low. */
	__atomic_fetch_add(&queue->device->plain_open, 1, __ATOMIC_SEQ_CST);
	while ((!before || (int64_t)(last + 1 - before) > 0) &&
	       !__atomic_compare_exchange_n(&queue->plain, &before, last + 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	if (before)
		__atomic_fetch_sub(&queue->device->plain_open, 1, __ATOMIC_SEQ_CST);
	counted_sets_mix(queue->device, queue, NULL, hsa);
}
