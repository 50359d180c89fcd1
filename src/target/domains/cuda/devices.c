/*
 * Numbers devices and streams within CUDA's range, and writes each name once a session, before the
 * first record that uses it: no locks, no libc. limpet's thread prepares the texts.
 */
#include "target/domains/cuda/cuda.h"

#include "target/runtime/slot.h"
#include "target/runtime/text.h"

#define DEVICES_MAX  64u
#define STREAMS_MAX  4096u
#define PROBES_MAX   64u
#define STREAMS_FROM (CUDA_NUMBERS_FROM + DEVICES_MAX)
#define NAME_ROOM    256u
#define TEXT_ROOM    384u

/* For cuDeviceGetAttribute. */
enum { PROCESSORS = 16, MAJOR = 75, MINOR = 76 };

struct stream {
	uint64_t key; /* context and stream, plus one; 0: free */
	uint32_t session;
};

static char texts[DEVICES_MAX][TEXT_ROOM];
static uint32_t named[DEVICES_MAX];
static struct stream streams[STREAMS_MAX];

static size_t add_attribute(const struct cuda_driver *driver, int device, char *text, size_t at,
			    const char *key, int attribute)
{
	int value = 0;

	if (driver->device_attribute(&value, attribute, device) || value < 0)
		return at;
	at = text_add(text, TEXT_ROOM, at, key);
	return text_add_number(text, TEXT_ROOM, at, (unsigned long)value);
}

/* `index` is the ordinal in the process, as CUDA counts: it sees no other process. */
static size_t device_begin(char *text, uint32_t ordinal)
{
	size_t at = text_add(text, TEXT_ROOM, 0, "type=gpu\nindex=");

	at = text_add_number(text, TEXT_ROOM, at, ordinal);
	return text_add(text, TEXT_ROOM, at, "\nvendor=NVIDIA\nname=");
}

static void device_describe(const struct cuda_driver *driver, int ordinal, char *text)
{
	char name[NAME_ROOM] = "";
	int device = 0;
	size_t at = device_begin(text, (uint32_t)ordinal);

	if (driver->device(&device, ordinal) ||
	    driver->device_name(name, (int)sizeof(name), device))
		return;
	name[sizeof(name) - 1] = 0;
	at = text_add(text, TEXT_ROOM, at, name);
	at = add_attribute(driver, device, text, at, "\ncompute_capability=", MAJOR);
	at = add_attribute(driver, device, text, at, ".", MINOR);
	at = add_attribute(driver, device, text, at, "\nmultiprocessors=", PROCESSORS);
	text_add(text, TEXT_ROOM, at, "\n");
}

void devices_query(const struct cuda_driver *driver)
{
	int count = 0;

	if (driver->device_count(&count))
		return;
	for (int i = 0; i < count && i < (int)DEVICES_MAX; i++)
		device_describe(driver, i, texts[i]);
}

static bool is_named(uint32_t *slot)
{
	return __atomic_exchange_n(slot, writers_session(), __ATOMIC_RELAXED) == writers_session();
}

static bool device_write_name(struct writer *writer, uint32_t slot)
{
	char plain[TEXT_ROOM];
	const char *text = texts[slot];

	if (!text[0]) {
		text_add(plain, sizeof(plain), device_begin(plain, slot), "\n");
		text = plain;
	}
	return writer_name(writer, NAME_DEVICE, CUDA_NUMBERS_FROM + slot, text, text_length(text));
}

uint64_t cuda_device(struct writer *writer, uint32_t ordinal)
{
	uint32_t slot = MIN(ordinal, DEVICES_MAX - 1);

	work_name(writer, NAME_DEVICE, 0, "type=cpu\nname=host\n");
	if (!is_named(&named[slot]) && !device_write_name(writer, slot))
		__atomic_store_n(&named[slot], 0, __ATOMIC_RELAXED);
	return CUDA_NUMBERS_FROM + slot;
}

static void stream_write_name(struct writer *writer, struct stream *slot, uint64_t number,
			      uint32_t context, uint32_t stream)
{
	char text[64];
	size_t at;

	if (is_named(&slot->session))
		return;
	at = text_add(text, sizeof(text), 0, "stream ");
	at = text_add_number(text, sizeof(text), at, stream);
	at = text_add(text, sizeof(text), at, " of context ");
	at = text_add_number(text, sizeof(text), at, context);
	if (!writer_name(writer, NAME_STREAM, number, text, at) ||
	    !writer_name(writer, NAME_QUEUE, number, text, at))
		__atomic_store_n(&slot->session, 0, __ATOMIC_RELAXED);
}

/* Returns 0 if there are too many streams. */
uint64_t cuda_stream(struct writer *writer, uint32_t context, uint32_t stream)
{
	uint64_t key = ((uint64_t)context << 32 | stream) + 1;

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		uint32_t at = (stream + 31 * context + i) % STREAMS_MAX;

		if (!slot_claim(&streams[at].key, key))
			continue;
		stream_write_name(writer, &streams[at], STREAMS_FROM + at, context, stream);
		return STREAMS_FROM + at;
	}
	return 0;
}
