/*
 * Payloads about windows, in the order of docs/recording-format.md.
 */
#include "host/recording/window_chunks.h"

#include "host/recording/chunks.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FLAG_BITS 2u

void metric_put(struct bytes *bytes, const struct recorded_metric *metric)
{
	bytes_u32(bytes, metric->process);
	bytes_u32(bytes, metric->form);
	bytes_u64(bytes, metric->device);
	bytes_text(bytes, metric->source);
	bytes_text(bytes, metric->name);
	bytes_text(bytes, metric->unit);
	bytes_text(bytes, metric->subject);
	bytes_text(bytes, metric->description);
}

int metric_take(struct cursor *cursor, struct recorded_metric *ret)
{
	ret->process = cursor_u32(cursor);
	ret->form = cursor_u32(cursor);
	ret->device = cursor_u64(cursor);
	ret->source = cursor_text(cursor);
	ret->name = cursor_text(cursor);
	ret->unit = cursor_text(cursor);
	ret->subject = cursor_text(cursor);
	ret->description = cursor_text(cursor);
	return cursor->has_failed || ret->form >= METRIC_FORMS ? -EPROTO : 0;
}

static uint64_t double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

void window_put(struct bytes *bytes, struct window_packer *packer,
		const struct recorded_window *window)
{
	bytes_varint(bytes, (uint64_t)window->metric << FLAG_BITS | (window->flags & WINDOW_FLAGS));
	bytes_difference(bytes, window->begin_ns, &packer->begin_ns);
	bytes_difference(bytes, window->end_ns - window->begin_ns, &packer->length_ns);
	if (!(window->flags & WINDOW_MISSING))
		bytes_u64(bytes, double_bits(window->value));
}

int window_take(struct cursor *cursor, struct window_packer *packer, struct recorded_window *ret)
{
	uint64_t head = cursor_varint(cursor);
	uint64_t length_ns;

	ret->metric = (uint32_t)(head >> FLAG_BITS);
	ret->flags = head & WINDOW_FLAGS;
	ret->begin_ns = cursor_difference(cursor, &packer->begin_ns);
	length_ns = cursor_difference(cursor, &packer->length_ns);
	ret->end_ns = ret->begin_ns + length_ns;
	ret->value = ret->flags & WINDOW_MISSING ? 0 : double_of(cursor_u64(cursor));
	return cursor->has_failed || head >> FLAG_BITS > UINT32_MAX ||
			       length_ns > UINT64_MAX - ret->begin_ns || !isfinite(ret->value)
		       ? -EPROTO
		       : 0;
}
