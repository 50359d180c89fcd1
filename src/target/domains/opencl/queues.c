/*
 * Queues and devices get small numbers at their first use, and names, written once a session. Runs
 * inside application calls: no locks. Storing the handle claims a slot, usable once it is ready.
 */
#include "target/domains/opencl/opencl.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/text.h"

#define QUEUES_MAX   1024u
#define DEVICES_MAX  64u
#define PROBES_MAX   64u
#define ORDERLESS    1u /* properties of a queue */
#define PROFILES     2u
#define TYPE_CPU     2u
#define TYPE_GPU     4u
#define AWAIT_TRIES  1000u
#define NAP_NS       1000
#define TEXT_ROOM    256u
#define DEVICES_ROOM 16u /* room for a context's devices */

struct device {
	opencl_object handle;
	uint32_t session; /* in which its name was written */
	int64_t clock;
};

static struct opencl_queue queues[QUEUES_MAX];
static struct device devices[DEVICES_MAX];
static uint32_t queue_numbers;

/* Numbers go on: a late record of an earlier session must not name a queue of this one. */
void queues_start(void)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		queues[i] = (struct opencl_queue){ 0 };
	for (unsigned i = 0; i < DEVICES_MAX; i++)
		devices[i] = (struct device){ 0 };
}

static bool name_write(enum name_space space, uint32_t number, const char *text)
{
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);
	bool is_said = writer && writer_name(writer, space, number, text, text_length(text));

	if (writer)
		writer_end(writer, &seal);
	return is_said;
}

static size_t add_property(const struct opencl_vendor *vendor, opencl_object device, char *text,
			   size_t at, const char *key, uint32_t name)
{
	char value[TEXT_ROOM] = "";

	if (!vendor_query(vendor, ENTRY_clGetDeviceInfo, device, name, value, sizeof(value)))
		return at;
	value[sizeof(value) - 1] = 0;
	at = text_add(text, 4 * TEXT_ROOM, at, key);
	at = text_add(text, 4 * TEXT_ROOM, at, value);
	return text_add(text, 4 * TEXT_ROOM, at, "\n");
}

static bool write_device_name(const struct opencl_vendor *vendor, opencl_object device,
			      uint32_t number)
{
	char text[4 * TEXT_ROOM], platform_name[TEXT_ROOM] = "";
	opencl_object platform = 0;
	uint64_t type = 0;
	size_t at;

	vendor_query(vendor, ENTRY_clGetDeviceInfo, device, DEVICE_TYPE, &type, sizeof(type));
	at = text_add(text, sizeof(text), 0,
		      type & TYPE_GPU   ? "type=gpu\n"
		      : type & TYPE_CPU ? "type=cpu\n"
					: "type=accelerator\n");
	at = add_property(vendor, device, text, at, "name=", DEVICE_NAME);
	at = add_property(vendor, device, text, at, "vendor=", DEVICE_VENDOR);
	if (vendor_query(vendor, ENTRY_clGetDeviceInfo, device, DEVICE_PLATFORM, &platform,
			 sizeof(platform)) &&
	    vendor_query(vendor, ENTRY_clGetPlatformInfo, platform, PLATFORM_NAME, platform_name,
			 sizeof(platform_name))) {
		at = text_add(text, sizeof(text), at, "product=");
		at = text_add(text, sizeof(text), at, platform_name);
		text_add(text, sizeof(text), at, "\n");
	}
	return name_write(NAME_DEVICE, number, text);
}

static void write_host_name(void)
{
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);

	if (!writer)
		return;
	work_name(writer, NAME_DEVICE, 0, "type=cpu\nname=host\n");
	writer_end(writer, &seal);
}

static bool slot_claim(opencl_object *slot, opencl_object handle)
{
	opencl_object empty = 0;

	return __atomic_load_n(slot, __ATOMIC_ACQUIRE) == handle ||
	       __atomic_compare_exchange_n(slot, &empty, handle, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE) ||
	       empty == handle;
}

/* Writes the name before the number is used; writing it twice does no harm. */
static void name_device_once(const struct opencl_vendor *vendor, struct device *device,
			     uint32_t number)
{
	if (__atomic_load_n(&device->session, __ATOMIC_RELAXED) == writers_session())
		return;
	write_host_name();
	if (write_device_name(vendor, device->handle, number))
		__atomic_store_n(&device->session, writers_session(), __ATOMIC_RELAXED);
}

uint32_t device_number(const struct opencl_vendor *vendor, opencl_object handle)
{
	for (uint32_t i = 0; handle && i < DEVICES_MAX; i++) {
		uint32_t number = OPENCL_NUMBERS_FROM + i;

		if (!slot_claim(&devices[i].handle, handle))
			continue;
		name_device_once(vendor, &devices[i], number);
		return number;
	}
	return 0;
}

uint32_t device_of_context(const struct opencl_vendor *vendor, opencl_object context)
{
	opencl_object found[DEVICES_ROOM] = { 0 };

	if (!vendor_query(vendor, ENTRY_clGetContextInfo, context, CONTEXT_DEVICES, found,
			  sizeof(found)))
		return 0;
	return device_number(vendor, found[0]);
}

int64_t *device_clock(uint32_t number)
{
	return &devices[number < OPENCL_NUMBERS_FROM ? 0
						     : (number - OPENCL_NUMBERS_FROM) % DEVICES_MAX]
			.clock;
}

/* `known`: the application's queue. */
static void write_queue_name(const struct opencl_queue *queue, const struct opencl_queue *known,
			     const char *more, const char *why)
{
	char text[TEXT_ROOM];
	size_t at = text_add(text, sizeof(text), 0, "OpenCL queue ");

	at = text_add_number(text, sizeof(text), at, known->number - OPENCL_NUMBERS_FROM);
	at = text_add(text, sizeof(text), at, queue->is_ordered ? "" : ", out of order");
	at = text_add(text, sizeof(text), at, more);
	text_add(text, sizeof(text), at, why);
	name_write(NAME_QUEUE, queue->number, text);
}

static uint32_t next_number(void)
{
	return OPENCL_NUMBERS_FROM + 1 +
	       __atomic_fetch_add(&queue_numbers, 1, __ATOMIC_RELAXED) % (OPENCL_NUMBERS - 1);
}

void queue_view(const struct opencl_queue *queue, struct opencl_queue *ret)
{
	ret->number = next_number();
	ret->device = queue->device;
	ret->device_handle = queue->device_handle;
	ret->has_profiling = true;
	write_queue_name(ret, queue, ", device times", "");
}

void queue_name_refused(const struct opencl_queue *queue, const char *why)
{
	write_queue_name(queue, queue, ", times estimated: ", why);
}

/* Queries the driver before the queue is published. */
static bool queue_describe(const struct opencl_vendor *vendor, opencl_object handle,
			   struct opencl_queue *ret)
{
	uint64_t properties = 0;

	*ret = (struct opencl_queue){ .handle = handle, .vendor = vendor };
	if (!vendor_query(vendor, ENTRY_clGetCommandQueueInfo, handle, QUEUE_DEVICE,
			  &ret->device_handle, sizeof(ret->device_handle)) ||
	    !vendor_query(vendor, ENTRY_clGetCommandQueueInfo, handle, QUEUE_PROPERTIES,
			  &properties, sizeof(properties)))
		return false;
	ret->is_ordered = !(properties & ORDERLESS);
	ret->has_profiling = properties & PROFILES;
	ret->device = device_number(vendor, ret->device_handle);
	ret->number = next_number();
	write_queue_name(ret, ret, ret->has_profiling ? ", profiling" : "", "");
	return true;
}

static void queue_fill(struct opencl_queue *slot, const struct opencl_queue *queue)
{
	slot->number = queue->number;
	slot->device = queue->device;
	slot->device_handle = queue->device_handle;
	slot->is_ordered = queue->is_ordered;
	slot->has_profiling = queue->has_profiling;
	slot->last_end = 0;
	slot->vendor = queue->vendor;
	slot->shadow = NULL;
	slot->refusal = 0;
	slot->is_new = false;
	/* Release: pairs with the acquire in await_ready(). */
	__atomic_store_n(&slot->is_ready, 1, __ATOMIC_RELEASE);
}

/* Another thread is filling the slot, which is short unless it was preempted. */
static struct opencl_queue *await_ready(struct opencl_queue *slot)
{
	for (unsigned i = 0; i < AWAIT_TRIES; i++) {
		if (__atomic_load_n(&slot->is_ready, __ATOMIC_ACQUIRE))
			return slot;
		sleep_ns(NAP_NS);
	}
	return NULL;
}

static void release_kept(const struct opencl_vendor *vendor, opencl_object *kept)
{
	opencl_object event = __atomic_exchange_n(kept, 0, __ATOMIC_ACQ_REL);

	if (event)
		vendor_call(vendor, ENTRY_clReleaseEvent, event);
}

static void release_events(struct opencl_queue *queue)
{
	release_kept(queue->vendor, &queue->first);
	release_kept(queue->vendor, &queue->barrier);
}

void queues_stop(void)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++) {
		void *driver;

		if (!__atomic_load_n(&queues[i].first, __ATOMIC_SEQ_CST) &&
		    !__atomic_load_n(&queues[i].barrier, __ATOMIC_SEQ_CST))
			continue;
		driver = vendor_keep(queues[i].vendor);
		if (!driver)
			continue;
		release_events(&queues[i]);
		got_release(driver);
	}
}

static struct opencl_queue *slot_at(opencl_object handle, unsigned probe)
{
	return &queues[((uint32_t)(handle * 0x9e3779b97f4a7c15u >> 40) + probe) % QUEUES_MAX];
}

/* Returns the handle's slot, or an unclaimed empty one; NULL: there is no room. */
static struct opencl_queue *find_slot(opencl_object handle)
{
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct opencl_queue *slot = slot_at(handle, i);
		opencl_object found = __atomic_load_n(&slot->handle, __ATOMIC_ACQUIRE);

		if (found == handle || !found)
			return slot;
	}
	return NULL;
}

static struct opencl_queue *find_known(opencl_object handle)
{
	struct opencl_queue *slot = find_slot(handle);

	return slot && __atomic_load_n(&slot->handle, __ATOMIC_ACQUIRE) == handle ? slot : NULL;
}

static struct opencl_queue *queue_add(const struct opencl_queue *queue)
{
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct opencl_queue *slot = slot_at(queue->handle, i);
		opencl_object empty = 0;

		if (__atomic_compare_exchange_n(&slot->handle, &empty, queue->handle, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			queue_fill(slot, queue);
			return slot;
		}
		if (empty == queue->handle)
			return await_ready(slot);
	}
	return NULL;
}

struct opencl_queue *queue_find(const struct opencl_vendor *vendor, opencl_object handle)
{
	struct opencl_queue *known = handle ? find_known(handle) : NULL, made;

	if (known)
		return await_ready(known);
	if (handle && !find_slot(handle)) {
		note_raise(&opencl_notes[SAY_MANY_QUEUES]);
		return NULL;
	}
	return handle && queue_describe(vendor, handle, &made) ? queue_add(&made) : NULL;
}

/* The driver has just returned this handle for a new queue, whatever had it before. */
void queue_describe_again(const struct opencl_vendor *vendor, opencl_object handle)
{
	struct opencl_queue *known = find_known(handle), made;

	if (known && queue_describe(vendor, handle, &made)) {
		release_events(known);
		queue_fill(known, &made);
	}
}

void queue_after_create(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	opencl_object handle = around->frame.results[0];
	struct opencl_queue *queue;

	(void)end;
	if (!vendor || !handle || !writers_are_on())
		return;
	vendor_note_object(vendor, handle);
	queue_describe_again(vendor, handle);
	queue = shadows_are_wanted() ? queue_find(vendor, handle) : NULL;
	if (queue)
		queue->is_new = true; /* it contains no unseen command */
}
