/*
 * Makes and frees packet sets. Runs on limpet's threads, one at a time, except the lookups.
 */
#include "target/amd/counters/devices.h"

#include "shared/arch/syscall.h"
#include "shared/wire/record.h"
#include "target/amd/counters/owner.h"
#include "target/amd/hsa/agents.h"
#include "target/runtime/mapping.h"
#include "target/runtime/text.h"

#include <string.h>
#include <sys/mman.h>

#define INSTANCES_MAX 256u
#define PLACE_BITS    8u

/* Mapped by the first session that counts, never unmapped: 3 MB are too much for each process whose
 * memory is locked. */
static struct counting_device *devices;
static unsigned
	counting_count; /* of this session, and of earlier ones with sets that could not be freed */
static const struct aqlprofile *library;

const struct aqlprofile *counting_library(void)
{
	return library;
}

struct counting_device *counting_device_at(unsigned index)
{
	/* Acquire: pairs with counting_devices_begin(), and with device_begin(). */
	struct counting_device *all = __atomic_load_n(&devices, __ATOMIC_ACQUIRE);

	return all && __atomic_load_n(&all[index].is_ready, __ATOMIC_ACQUIRE) ? &all[index] : NULL;
}

struct counting_device *counting_device_of(uint64_t agent)
{
	for (unsigned i = 0; agent && i < counting_count; i++) {
		struct counting_device *device = counting_device_at(i);

		if (device && device->agent == agent)
			return device;
	}
	return NULL;
}

void counting_sets_each(void (*visit)(struct counter_set *set, void *data), void *data)
{
	for (unsigned i = 0; i < counting_count; i++)
		for (unsigned j = 0; j < SETS_OF_DEVICE; j++)
			if (__atomic_load_n(&devices[i].sets[j].state, __ATOMIC_ACQUIRE))
				visit(&devices[i].sets[j], data);
}

/* Events for aqlprofile: one for each instance of a block. */
struct event_list {
	struct pmc_event items[INSTANCES_MAX];
	uint16_t indexes[INSTANCES_MAX]; /* in the request */
	uint32_t count;
};

static bool event_add(const struct counting_device *device, const struct counter_request *request,
		      unsigned index, struct event_list *list)
{
	struct pmc_profile profile = { .agent = device->handle };
	struct pmc_block block = { .name = request->events[index].block };

	if (library->get_info(&profile, PMC_BLOCK_ID, &block))
		return false;
	for (uint32_t i = 0; i < block.instances; i++) {
		struct pmc_event event = { i, (uint32_t)request->events[index].event,
					   (uint32_t)request->events[index].flags, block.id };
		bool is_valid = false;

		if (library->is_valid(device->handle, &event, &is_valid) || !is_valid ||
		    list->count == INSTANCES_MAX)
			return false;
		list->indexes[list->count] = (uint16_t)index;
		list->items[list->count++] = event;
	}
	return block.instances > 0;
}

static int place_add(int position, int id, int extent, int coordinate, const char *name, void *data)
{
	static const char *const names[] = { "XCD", "AID", "SE", "SA", "WGP", "INSTANCE" };
	uint64_t *place = data;

	(void)position, (void)id, (void)extent;
	for (unsigned i = 0; name && i < ARRAY_SIZE(names); i++)
		if (text_equal(name, names[i]))
			*place |= (uint64_t)(uint8_t)coordinate << (PLACE_BITS * i);
	return 0;
}

struct id_search {
	struct counting_device *device;
	const struct event_list *list;
	enum counting_fault fault;
};

static bool is_same(const struct pmc_event *a, const struct pmc_event *b)
{
	return a->instance == b->instance && a->event == b->event && a->block == b->block &&
	       a->flags == b->flags;
}

static bool id_find(struct id_search *search, const struct pmc_event *event, uint64_t place)
{
	struct counting_device *device = search->device;

	for (uint32_t i = 0; i < search->list->count; i++)
		if (is_same(&search->list->items[i], event)) {
			device->ids[device->id_count++] =
				(uint64_t)search->list->indexes[i] << COUNT_EVENT_SHIFT | place;
			return true;
		}
	return false;
}

/* Notes the ID of each value once: values always come in the same order. */
static int id_note(struct pmc_event event, uint64_t sample, uint64_t value, void *data)
{
	struct id_search *search = data;
	struct counting_device *device = search->device;
	uint64_t place = 0;

	(void)value;
	if (device->id_count == VALUES_MAX)
		search->fault = COUNTING_TOO_MANY;
	else if (library->place(device->handle, event, sample, place_add, &place) ||
		 !id_find(search, &event, place))
		search->fault = COUNTING_NO_EVENT;
	return search->fault ? PACKET_STOP_VISIT : 0;
}

static int value_note(struct pmc_event event, uint64_t sample, uint64_t value, void *data)
{
	struct counter_set *set = data;

	(void)event, (void)sample;
	set->is_cut |= set->value_count == set->device->id_count;
	if (set->is_cut)
		return PACKET_STOP_VISIT;
	set->values[set->value_count++] = value;
	return 0;
}

bool counting_set_read(struct counter_set *set)
{
	set->value_count = 0;
	set->is_cut = false;
	if (packet_set_read(&set->aql, value_note, set) && !set->is_cut)
		return true;
	set->value_count = 0;
	return false;
}

static enum counting_fault ids_read(struct counting_device *device, const struct event_list *list,
				    const struct counter_set *set)
{
	struct id_search search = { device, list, COUNTING_FINE };

	if (!packet_set_read(&set->aql, id_note, &search) && !search.fault)
		search.fault = COUNTING_NO_PACKETS;
	return search.fault ? search.fault : device->id_count ? COUNTING_FINE : COUNTING_NO_EVENT;
}

static bool set_make(struct counting_device *device, unsigned index, struct pmc_profile profile)
{
	struct counter_set *set = &device->sets[index];

	set->device = device;
	set->key = &device->keys[index];
	set->aql.agent = device->agent;
	if (!packet_set_make(&set->aql, profile))
		return false;
	__atomic_store_n(&set->state, SET_FREE, __ATOMIC_RELEASE);
	return true;
}

static enum counting_fault sets_make(struct counting_device *device, const struct event_list *list,
				     unsigned count)
{
	struct pmc_profile profile = { device->handle, list->items, list->count };
	enum counting_fault fault = COUNTING_FINE;

	for (unsigned i = 0; !fault && i < count; i++) {
		const struct counter_set *set = &device->sets[i];

		/* A signal whose last call is still to come belongs to an earlier session. */
		if (set->state != SET_EMPTY || __atomic_load_n(&set->signal, __ATOMIC_ACQUIRE))
			continue;
		if (!set_make(device, i, profile))
			return COUNTING_NO_PACKETS;
		if (!device->id_count)
			fault = ids_read(device, list, set);
	}
	return fault || device->id_count ? fault : COUNTING_NO_PACKETS;
}

/* Memory for values: stays with the slot. */
static bool values_make(struct counting_device *device)
{
	long r;

	if (device->sets[0].values)
		return true;
	r = raw6(SYS_mmap, 0, SETS_OF_DEVICE * VALUES_MAX * sizeof(uint64_t),
		 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	for (unsigned i = 0; i < SETS_OF_DEVICE; i++)
		device->sets[i].values = (uint64_t *)r + i * VALUES_MAX;
	return true;
}

static bool is_registered(const struct counting_device *device,
			  const struct requested_device *wanted)
{
	const struct requested_device *have = &device->registered;

	for (unsigned i = 0; i < ARRAY_SIZE(have->numbers); i++)
		if (have->numbers[i] != wanted->numbers[i])
			return false;
	return have->architecture[0] && text_equal(have->architecture, wanted->architecture);
}

static bool device_register(struct counting_device *device, const struct requested_device *wanted)
{
	const uint64_t *numbers = wanted->numbers;
	struct pmc_agent_info info = { wanted->architecture, (uint32_t)numbers[0],
				       (uint32_t)numbers[1], (uint32_t)numbers[2],
				       (uint32_t)numbers[3], (uint32_t)numbers[4],
				       (uint32_t)numbers[5] };

	if (is_registered(device, wanted))
		return true;
	if (library->register_agent(&device->handle, &info, PMC_AGENT_VERSION))
		return false;
	device->registered = *wanted;
	return true;
}

static enum counting_fault device_begin(const struct counter_request *request, unsigned number)
{
	static struct event_list list;
	struct counting_device *device = &devices[number];
	enum counting_fault fault;

	device->node = request->devices[number].node;
	device->agent = agent_of_device(device->node);
	device->id_count = device->plain_open = 0;
	list.count = 0;
	if (!device->agent)
		return COUNTING_FINE; /* not visible to the target */
	if (!device_register(device, &request->devices[number]))
		return COUNTING_NO_AGENT;
	for (unsigned i = 0; i < request->event_count; i++)
		if ((!request->events[i].devices || request->events[i].devices >> number & 1) &&
		    !event_add(device, request, i, &list))
			return COUNTING_NO_EVENT;
	fault = values_make(device)
			? sets_make(device, &list, request->window_ns ? 1 : SETS_OF_DEVICE)
			: COUNTING_NO_PACKETS;
	/* Release: pairs with counting_device_at(). */
	__atomic_store_n(&device->is_ready, !fault, __ATOMIC_RELEASE);
	return fault;
}

static void set_end(struct counter_set *set, void *data)
{
	uint32_t is_free = SET_FREE, is_stale = SET_STALE;

	(void)data;
	if (!__atomic_compare_exchange_n(&set->state, &is_free, SET_TAKEN, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED) &&
	    !__atomic_compare_exchange_n(&set->state, &is_stale, SET_TAKEN, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	if (!packet_set_give_back(&set->aql))
		return;
	set->key->doorbell = 0;
	/* The signal's handler is called once more, and frees the signal (sets.c). */
	if (set->signal)
		hsa_calls.signal_store(set->signal, 0);
	__atomic_store_n(&set->state, SET_EMPTY, __ATOMIC_RELEASE);
}

static bool has_functions(void)
{
	return hsa_calls.pool_info && hsa_calls.pool_allocate && hsa_calls.pool_free &&
	       hsa_calls.allow_access && hsa_calls.load_read && hsa_calls.load_write &&
	       hsa_calls.cas_write;
}

enum counting_fault counting_devices_begin(const struct counter_request *request)
{
	enum counting_fault fault = COUNTING_FINE;
	struct packet_memory memory = { 0, hsa_calls.pool_allocate, hsa_calls.pool_free,
					hsa_calls.allow_access };

	if (!has_functions())
		return COUNTING_NO_FUNCTIONS;
	library = aqlprofile_load();
	if (!library)
		return COUNTING_NO_LIBRARY;
	memory.pool = hsa_host_pool(&hsa_calls);
	if (!memory.pool)
		return COUNTING_NO_PACKETS;
	if (!devices) /* release: pairs with counting_device_at() */
		__atomic_store_n(&devices,
				 memory_map(COUNTER_DEVICES_MAX * sizeof(*devices), MAP_NORESERVE),
				 __ATOMIC_RELEASE);
	if (!devices)
		return COUNTING_NO_PACKETS;
	if (!owner_claim(OWNER_TRACER))
		return COUNTING_TAKEN;
	packet_sets_use(library, &memory);
	counting_sets_each(set_end, NULL); /* sets that an earlier session could not free */
	counting_count = MAX(counting_count, request->device_count);
	for (unsigned i = 0; !fault && i < request->device_count; i++)
		fault = device_begin(request, i);
	if (fault)
		counting_devices_end();
	return fault;
}

uint32_t counting_signals_left(void)
{
	uint32_t left = 0;

	for (unsigned i = 0; i < counting_count; i++)
		for (unsigned j = 0; j < SETS_OF_DEVICE; j++)
			left += devices[i].sets[j].state == SET_EMPTY &&
				__atomic_load_n(&devices[i].sets[j].signal, __ATOMIC_ACQUIRE);
	return left;
}

void counting_devices_leave(void)
{
	for (unsigned i = 0; i < counting_count; i++)
		__atomic_store_n(&devices[i].is_ready, 0, __ATOMIC_RELEASE);
}

void counting_devices_end(void)
{
	counting_devices_leave();
	counting_sets_each(set_end, NULL);
	owner_release(OWNER_TRACER);
}

static void set_forget(struct counter_set *set, void *data)
{
	(void)data;
	packet_set_drop(&set->aql);
	set->key->doorbell = set->signal = 0;
	set->work = WORK_NONE;
	__atomic_store_n(&set->state, SET_EMPTY, __ATOMIC_RELEASE);
}

void counting_devices_forget(void)
{
	counting_devices_leave();
	counting_sets_each(set_forget, NULL);
	owner_release(OWNER_TRACER);
}
