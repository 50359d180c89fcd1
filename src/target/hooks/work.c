/*
 * Writes records of device work. Runs in GPU runtimes' callbacks and on application threads: no
 * libc, no waiting.
 */
#include "target/hooks/work.h"

#include "shared/base/hash.h"
#include "target/runtime/slot.h"
#include "target/runtime/text.h"

#define KERNELS    16384u
#define PROBES_MAX 64u
#define UNNUMBERED (1ull << 63) /* if all slots are used, the hash is the number */

/* clang-format off */
#define KERNEL_VALUES \
	{ VALUE_NAME, 0 }, { VALUE_DEVICE, 0 }, { VALUE_QUEUE, 0 }, { VALUE_STREAM, 0 }, \
	{ VALUE_THREAD, 0 }, { VALUE_CAUSE, 0 }, { VALUE_DISPATCH, 0 }, \
	{ VALUE_GRID_X, 0 }, { VALUE_GRID_Y, 0 }, { VALUE_GRID_Z, 0 }, \
	{ VALUE_GROUP_X, 0 }, { VALUE_GROUP_Y, 0 }, { VALUE_GROUP_Z, 0 }, \
	{ VALUE_SCRATCH_BYTES, 0 }, { VALUE_LOCAL_BYTES, 0 }
#define WORK(number, text, count, ...) \
	[number] = { .name = text, .domain = number, .value_count = count, .values = { __VA_ARGS__ } }

/* What devices do, as functions whose calls are recorded. */
static const struct traced functions[DOMAINS] = {
	WORK(DOMAIN_KERNEL, "kernel", 15, KERNEL_VALUES),
	/* Flags: see amd/counters. */
	WORK(DOMAIN_COUNTER, "counted kernel", 16, KERNEL_VALUES, { VALUE_FLAGS, 0 }),
	/* A reading of a device's counters, from when they were started to when they were read.
	 * Size: the number of counts that follow. */
	WORK(DOMAIN_WINDOW, "device window", 2, { VALUE_DEVICE, 0 }, { VALUE_SIZE, 0 }),
	WORK(DOMAIN_COPY, "copy", 10,
	     { VALUE_SIZE, 0 }, { VALUE_DEVICE, 0 }, { VALUE_FROM_DEVICE, 0 },
	     { VALUE_ADDRESS, 0 }, { VALUE_OLD_ADDRESS, 0 }, { VALUE_DIRECTION, 0 },
	     { VALUE_QUEUE, 0 }, { VALUE_STREAM, 0 }, { VALUE_THREAD, 0 }, { VALUE_CAUSE, 0 }),
	WORK(DOMAIN_MEMORY, "memory", 8,
	     { VALUE_SIZE, 0 }, { VALUE_ADDRESS, 0 }, { VALUE_DEVICE, 0 }, { VALUE_OPERATION, 0 },
	     { VALUE_QUEUE, 0 }, { VALUE_STREAM, 0 }, { VALUE_THREAD, 0 }, { VALUE_CAUSE, 0 }),
	WORK(DOMAIN_SCRATCH, "scratch", 7,
	     { VALUE_SIZE, 0 }, { VALUE_DEVICE, 0 }, { VALUE_QUEUE, 0 }, { VALUE_OPERATION, 0 },
	     { VALUE_FLAGS, 0 }, { VALUE_THREAD, 0 }, { VALUE_CAUSE, 0 }),
};
/* clang-format on */
static struct {
	uint32_t number; /* in this session's list */
	uint32_t session;
} announced[DOMAINS];
static uint64_t own_dispatches, *dispatches = &own_dispatches;

/* Names by their hash; a slot is never reused for another name. */
static struct {
	uint64_t hash;
	uint32_t named; /* the last session in which the name was written */
} kernels[KERNELS];
static uint32_t named[NAME_STREAM + 1][WORK_NUMBERS];

bool work_start(enum trace_domain domain)
{
	if (announced[domain].session == writers_session())
		return true;
	announced[domain].number = function_announce(
		&functions[domain], &(struct function_name){ functions[domain].name, "" });
	if (announced[domain].number == UINT32_MAX)
		return false;
	announced[domain].session = writers_session();
	return true;
}

bool work_write(struct writer *writer, enum trace_domain domain, uint64_t begin, uint64_t end,
		const uint64_t *values)
{
	struct record_call call = {
		{ 0, 0, functions[domain].value_count }, announced[domain].number, begin, end
	};

	return writer_call(writer, &call, values);
}

uint64_t work_hash(const char *text, size_t room)
{
	uint64_t hash = HASH_SEED;

	for (size_t i = 0; i < room && text[i]; i++)
		hash = hash_add_byte(hash, (unsigned char)text[i]);
	return hash ? hash : 1;
}

static size_t length_of(const char *text, size_t room)
{
	size_t length = 0;

	while (length < room && text[length])
		length++;
	return length;
}

static void name_write_once(struct writer *writer, enum name_space space, uint64_t id,
			    uint32_t *slot, const char *text, size_t room)
{
	uint32_t session = writers_session();

	if (__atomic_load_n(slot, __ATOMIC_RELAXED) == session ||
	    __atomic_exchange_n(slot, session, __ATOMIC_RELAXED) == session)
		return;
	if (!writer_name(writer, space, id, text, length_of(text, room)))
		__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
}

uint64_t work_kernel_hashed(struct writer *writer, const char *name, uint64_t hash, size_t room)
{
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		uint32_t at = (uint32_t)(hash + i) % KERNELS;

		if (!slot_claim(&kernels[at].hash, hash))
			continue;
		name_write_once(writer, NAME_KERNEL, at + 1, &kernels[at].named, name, room);
		return at + 1;
	}
	return writer_name(writer, NAME_KERNEL, hash | UNNUMBERED, name, length_of(name, room))
		       ? hash | UNNUMBERED
		       : 0;
}

uint64_t work_kernel(struct writer *writer, const char *name)
{
	return work_kernel_hashed(writer, name, work_hash(name, NAME_BYTES_MAX), NAME_BYTES_MAX);
}

bool work_kernel_is_named(uint64_t number)
{
	return number && number <= KERNELS &&
	       __atomic_load_n(&kernels[number - 1].named, __ATOMIC_RELAXED) == writers_session();
}

uint64_t work_dispatch(void)
{
	return __atomic_add_fetch(dispatches, 1, __ATOMIC_RELAXED);
}

void work_dispatch_use(uint64_t *shared)
{
	dispatches = shared;
}

void work_name(struct writer *writer, enum name_space space, uint64_t id, const char *text)
{
	if (id < WORK_NUMBERS)
		name_write_once(writer, space, id, &named[space][id], text, NAME_BYTES_MAX);
}
