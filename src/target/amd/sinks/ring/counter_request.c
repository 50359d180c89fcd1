/*
 * Parses the parts of the request about counters. Runs on limpet's threads.
 */
#include "target/amd/sinks/ring/ring.h"

#include "target/runtime/text.h"

#define DEVICE_WORD    "counter-device="
#define EVENT_WORD     "counter-event="
#define WINDOW_WORD    "counter-window="
#define DEVICE_NUMBERS 7u
#define EVENT_NUMBERS  2u

struct part {
	const char *at, *end;
};

static bool part_begins(struct part *part, const char *word)
{
	size_t length = text_length(word), i = 0;

	while (i < length && part->at + i < part->end && part->at[i] == word[i])
		i++;
	if (i < length)
		return false;
	part->at += length;
	return true;
}

/* Parses numbers, each followed by a comma. */
static void numbers_parse(struct part *part, uint64_t *ret, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		ret[i] = 0;
		for (; part->at < part->end && *part->at >= '0' && *part->at <= '9'; part->at++)
			ret[i] = ret[i] * 10 + (uint64_t)(*part->at - '0');
		part->at += part->at < part->end;
	}
}

/* Copies up to the end, or a '@'. */
static void text_parse(struct part *part, char ret[COUNTER_LETTERS])
{
	unsigned i = 0;

	for (; part->at < part->end && *part->at != '@'; part->at++)
		if (i + 1 < COUNTER_LETTERS)
			ret[i++] = *part->at;
	ret[i] = '\0';
}

/* Parses "@0+2". */
static uint64_t devices_parse(struct part *part)
{
	uint64_t devices = 0, number;

	while (part->at < part->end) {
		part->at++;
		number = 0;
		for (; part->at < part->end && *part->at >= '0' && *part->at <= '9'; part->at++)
			number = number * 10 + (uint64_t)(*part->at - '0');
		devices |= number < COUNTER_DEVICES_MAX ? (uint64_t)1 << number : 0;
	}
	return devices;
}

static void device_take(struct part *part, struct counter_request *ret)
{
	uint64_t numbers[DEVICE_NUMBERS];

	if (ret->device_count == COUNTER_DEVICES_MAX)
		return;
	numbers_parse(part, numbers, DEVICE_NUMBERS);
	ret->devices[ret->device_count].node = numbers[0];
	for (unsigned i = 1; i < DEVICE_NUMBERS; i++)
		ret->devices[ret->device_count].numbers[i - 1] = numbers[i];
	text_parse(part, ret->devices[ret->device_count++].architecture);
}

static void event_take(struct part *part, struct counter_request *ret)
{
	uint64_t numbers[EVENT_NUMBERS];

	if (ret->event_count == COUNTER_EVENTS_MAX)
		return;
	numbers_parse(part, numbers, EVENT_NUMBERS);
	ret->events[ret->event_count].event = numbers[0];
	ret->events[ret->event_count].flags = numbers[1];
	text_parse(part, ret->events[ret->event_count].block);
	ret->events[ret->event_count++].devices = devices_parse(part);
}

void counter_request_read(const struct trace_request *request, struct counter_request *ret)
{
	const char *word = request->text;
	size_t length = 0;

	ret->device_count = ret->event_count = 0;
	ret->window_ns = 0;
	while (request_next(&word, &length)) {
		struct part part = { word, word + length };

		if (part_begins(&part, DEVICE_WORD))
			device_take(&part, ret);
		else if (part_begins(&part, EVENT_WORD))
			event_take(&part, ret);
		else if (part_begins(&part, WINDOW_WORD))
			numbers_parse(&part, &ret->window_ns, 1);
	}
}
