/*
 * Streams are numbered in the order of their first use; the default stream is 0. Runs on
 * application threads, inside their calls.
 */
#include "target/amd/sinks/sdk/calls/streams.h"

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/tables/keyed.h"
#include "target/runtime/text.h"

#define STREAMS_MAX 8192u
#define WINDOW      64u

struct stream_data {
	uint64_t size, number, stream;
};
_Static_assert(sizeof(struct stream_data) == 24, "as in the headers");

/* Hashed by stream; a stream without room is reported as the default one. */
static struct stream {
	uint64_t stream, number;
} streams[STREAMS_MAX];
static const struct keyed_table stream_table = { streams, sizeof(streams[0]), STREAMS_MAX, WINDOW };
static uint64_t last_number;

void stream_find(const struct signature *signature, const struct api_table *table,
		 struct call_slot *slot)
{
	const char *at = signature->text;
	struct argument_text text;

	for (uint8_t i = 0; table == &api_tables[API_HIP] && signature_next(&at, &text); i++) {
		bool is_made = !__builtin_memcmp(text.type, "hipStream_t*:", 13);

		if (!is_made && __builtin_memcmp(text.type, "hipStream_t:", 12))
			continue;
		slot->stream_argument = i;
		slot->stream_use = is_made ? STREAM_MADE : STREAM_USED;
	}
	if (slot->stream_use && text_equal(signature->name, "hipStreamDestroy"))
		slot->stream_use = STREAM_GONE;
}

/* NULL: no room. */
static struct stream *stream_entry(uint64_t stream)
{
	struct stream *found = keyed_find(&stream_table, stream);

	return found || !stream ? found : keyed_claim(&stream_table, stream, stream);
}

/* A new stream may have the address of a destroyed one: `is_new` gives it a new number. */
static uint64_t number_of(uint64_t stream, bool is_new)
{
	struct stream *entry = stream_entry(stream);
	uint64_t unnumbered = 0, next;

	if (!entry)
		return 0;
	if (!is_new && __atomic_load_n(&entry->number, __ATOMIC_RELAXED))
		return entry->number;
	next = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
	if (is_new)
		__atomic_store_n(&entry->number, next, __ATOMIC_RELAXED);
	else if (!__atomic_compare_exchange_n(&entry->number, &unnumbered, next, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return unnumbered;
	return next;
}

static void forget_stream(uint64_t stream)
{
	struct stream *entry = stream_entry(stream);

	if (!entry)
		return;
	__atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->stream, 0, __ATOMIC_RELEASE);
}

static struct service_event event_of(const struct call_frame *frame, enum callback_phase phase,
				     struct stream_data *data)
{
	return (struct service_event){ .kind = CALLBACK_STREAM,
				       .operation = frame->slot->stream_use,
				       .phase = phase,
				       .payload = data };
}

static void stream_notify(struct call_frame *frame, enum callback_phase phase, uint64_t stream,
			  uint64_t number)
{
	struct stream_data data = { sizeof(data), number, stream };
	struct service_event event = event_of(frame, phase, &data);
	struct tools_frame *self = tools_frame_of(frame);
	const struct sdk_context *context;
	unsigned told = 0, next = 0;

	while (told < STREAM_DATA_MAX && (context = context_next(&next))) {
		if (!callback_wants(&context->callbacks[CALLBACK_STREAM],
				    (unsigned)event.operation))
			continue;
		self->stream_contexts[told] = (uint8_t)next;
		self->stream_data[told] = 0;
		service_notify(next - 1, &event, &self->stream_data[told++]);
	}
	if (told < STREAM_DATA_MAX)
		self->stream_contexts[told] = 0;
}

static void notify_end(struct call_frame *frame, uint64_t stream)
{
	struct stream_data data = { sizeof(data), number_of(stream, false), stream };
	struct service_event event = event_of(frame, PHASE_EXIT, &data);
	struct tools_frame *self = tools_frame_of(frame);

	for (unsigned i = 0; i < STREAM_DATA_MAX && self->stream_contexts[i]; i++)
		service_notify(self->stream_contexts[i] - 1u, &event, &self->stream_data[i]);
}

static uint64_t stream_in(struct call_frame *frame)
{
	const struct call_layout *layout =
		&api_layouts[call_table(frame->slot)->first + frame->slot->operation];
	uint64_t stream;

	__builtin_memcpy(&stream,
			 tools_frame_of(frame)->payload.bytes +
				 layout->places[frame->slot->stream_argument].offset,
			 sizeof(stream));
	return stream;
}

void stream_before(struct call_frame *frame)
{
	uint64_t stream = stream_in(frame);

	tools_frame_of(frame)->stream_contexts[0] = 0;
	if (frame->slot->stream_use == STREAM_USED)
		stream_notify(frame, PHASE_ENTER, stream, number_of(stream, false));
}

void stream_after(struct call_frame *frame)
{
	enum stream_use use = frame->slot->stream_use;
	uint64_t stream = stream_in(frame);

	if (use == STREAM_USED) {
		notify_end(frame, stream);
		return;
	}
	if (call_has_failed(frame) || (use == STREAM_MADE && !stream))
		return;
	if (use == STREAM_MADE)
		stream = *(const uint64_t *)stream;
	stream_notify(frame, PHASE_NONE, stream, number_of(stream, use == STREAM_MADE));
	if (use == STREAM_GONE)
		forget_stream(stream);
}
