/*
 * Ranges and marks of roctx and NVTX, as libraries that the program has loaded; of a roctx that has
 * tables, its tables.
 */
#include "target/domains/slots.h"
#include "target/hooks/writer.h"

/* nvtxEventAttributes_t, as far as it is needed. */
struct nvtx_event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type; /* 1: narrow letters */
	const char *message;
};

static void write_text(struct writer *writer, const char *text)
{
	size_t length = 0;

	if (!text)
		return;
	while (length < RECORD_TEXT_MAX && text[length])
		length++;
	writer_text(writer, text, length);
}

static void write_message(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	if (hook_write_call(writer, hook, frame, end))
		write_text(writer, (const char *)frame->arguments[0]);
}

static void write_event(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end)
{
	const struct nvtx_event *event = (const struct nvtx_event *)frame->arguments[0];

	if (hook_write_call(writer, hook, frame, end) && event && event->size >= sizeof(*event) &&
	    event->message_type == 1)
		write_text(writer, event->message);
}

#define MARKER(symbol, write, ...)                                                    \
	{                                                                             \
		symbol, NULL, DOMAIN_MARKER, HOOK_REGISTERS, write, NULL, __VA_ARGS__ \
	}
#define MARKS(symbol, write)  MARKER(symbol, write, 0)
#define PUSHES(symbol, write) MARKER(symbol, write, 1, { { VALUE_RESULT, CAPTURE_RESULT_INT } })
#define STARTS(symbol, write) MARKER(symbol, write, 1, { { VALUE_ID, CAPTURE_RESULT } })
#define STOPS(symbol)         MARKER(symbol, NULL, 1, { { VALUE_ID, CAPTURE_ARG0 } })

static const struct traced calls[] = {
	MARKS("roctxMarkA", write_message),
	PUSHES("roctxRangePushA", write_message),
	PUSHES("roctxRangePop", NULL),
	STARTS("roctxRangeStartA", write_message),
	STOPS("roctxRangeStop"),
	MARKS("roctxGetThreadId", NULL),
	MARKS("roctxProfilerPause", NULL),
	MARKS("roctxProfilerResume", NULL),
	MARKS("roctxNameOsThread", write_message),
	MARKS("roctxNameHsaAgent", write_message),
	MARKS("roctxNameHipDevice", write_message),
	MARKS("roctxNameHipStream", write_message),
	MARKS("nvtxMarkA", write_message),
	MARKS("nvtxMarkEx", write_event),
	PUSHES("nvtxRangePushA", write_message),
	PUSHES("nvtxRangePushEx", write_event),
	PUSHES("nvtxRangePop", NULL),
	STARTS("nvtxRangeStartA", write_message),
	STARTS("nvtxRangeStartEx", write_event),
	STOPS("nvtxRangeEnd"),
};

/* The first of them, in the order of roctx's tables. */
const struct slot_list marker_lists[3] = {
	{ "roctx", 0, false, false, DOMAIN_MARKER, calls, 6 },
	{ "roctx", 1, false, false, DOMAIN_MARKER, calls + 6, 2 },
	{ "roctx", 2, false, false, DOMAIN_MARKER, calls + 8, 4 },
};

const struct domain domain_marker = { "marker", calls, ARRAY_SIZE(calls), NULL };
