/*
 * Traces ranges and marks of NVTX: functions imported from a library, and their arguments.
 */
#include "target/domains/cpu/nvtx.h"
#include "target/domains/cpu/cpu.h"
#include "target/domains/marker.h"

/* The fields of nvtxEventAttributes_t that are read here. */
struct nvtx_event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type; /* enum message_type */
	const void *message;
};

#define PAGE_BYTES 4096u

enum message_type { MESSAGE_NARROW = 1, MESSAGE_WIDE = 2 };

/* Writes one code point as UTF-8; returns the number of bytes. */
static size_t put_letter(char *at, uint32_t letter)
{
	size_t more = letter < 0x80 ? 0 : letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
	static const unsigned char heads[] = { 0, 0xc0, 0xe0, 0xf0 };

	at[0] = (char)(heads[more] | letter >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		at[i] = (char)(0x80 | (letter >> 6 * (more - i) & 0x3f));
	return more + 1;
}

/* Probes only the first letter and each letter that begins or ends on another page. */
static bool wide_can_read(const uint32_t *letter, bool is_first)
{
	const char *last = (const char *)letter + sizeof(*letter) - 1;

	return (!is_first && (uintptr_t)last % PAGE_BYTES >= sizeof(*letter)) ||
	       marker_can_read(letter, sizeof(*letter));
}

static void write_wide(struct writer *writer, const uint32_t *text)
{
	char narrow[RECORD_TEXT_MAX];
	size_t length = 0;

	if (!text)
		return;
	for (; length + 4 <= sizeof(narrow) && wide_can_read(text, length == 0) && *text &&
	       *text <= 0x10ffff;
	     text++)
		length += put_letter(narrow + length, *text);
	writer_text(writer, narrow, length);
}

static void write_wide_message(struct writer *writer, const struct hook *hook,
			       const struct hook_frame *frame, uint64_t end)
{
	if (marker_write_call(writer, hook, frame, end))
		write_wide(writer, (const uint32_t *)frame->arguments[0]);
}

/* A registered string is only a handle, so its range has no name. */
static void write_event(struct writer *writer, const struct nvtx_event *event)
{
	if (!event || !marker_can_read(event, sizeof(*event)) || event->size < sizeof(*event))
		return;
	if (event->message_type == MESSAGE_NARROW)
		marker_write_text(writer, event->message);
	else if (event->message_type == MESSAGE_WIDE)
		write_wide(writer, event->message);
}

static void write_event0(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	if (marker_write_call(writer, hook, frame, end))
		write_event(writer, (const struct nvtx_event *)frame->arguments[0]);
}

static void write_event1(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	if (marker_write_call(writer, hook, frame, end))
		write_event(writer, (const struct nvtx_event *)frame->arguments[1]);
}

/* Ranges of an NVTX domain nest only with ranges of the same domain. */
#define DOMAIN_PUSHES(symbol, write) \
	MARKER(symbol, write, 2,     \
	       { { VALUE_RESULT, CAPTURE_RESULT_INT }, { VALUE_OBJECT, CAPTURE_ARG0 } })

const struct traced nvtx_calls[NVTX_CALLS] = {
	MARKS("nvtxMarkEx", write_event0),
	MARKS("nvtxMarkA", marker_write_message),
	MARKS("nvtxMarkW", write_wide_message),
	STARTS("nvtxRangeStartEx", write_event0),
	STARTS("nvtxRangeStartA", marker_write_message),
	STARTS("nvtxRangeStartW", write_wide_message),
	STOPS("nvtxRangeEnd"),
	PUSHES("nvtxRangePushEx", write_event0),
	PUSHES("nvtxRangePushA", marker_write_message),
	PUSHES("nvtxRangePushW", write_wide_message),
	PUSHES("nvtxRangePop", NULL),
	MARKER("nvtxDomainMarkEx", write_event1, 1, { { VALUE_OBJECT, CAPTURE_ARG0 } }),
	STARTS("nvtxDomainRangeStartEx", write_event1),
	MARKER("nvtxDomainRangeEnd", NULL, 1, { { VALUE_ID, CAPTURE_ARG1 } }),
	DOMAIN_PUSHES("nvtxDomainRangePushEx", write_event1),
	DOMAIN_PUSHES("nvtxDomainRangePop", NULL),
};

const struct domain_hooks hooks_nvtx = { DOMAIN_MARKER, nvtx_calls, NVTX_CALLS, NULL };
