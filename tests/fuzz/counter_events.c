/*
 * Fuzzes lists of events: the first line is the list, the second the place of a PMU's bits.
 */
#include "fuzz.h"

#include <string.h>

#include "host/counters/event_names.h"

static void must_be_whole(const struct counter_events *events)
{
	must(events->count <= COUNTER_EVENTS_MAX);
	for (size_t i = 0; i < events->count; i++) {
		const struct counter_event *event = &events->items[i];

		must(event->name[0] && strlen(event->name) < COUNTER_NAME_MAX);
		must(event->base[0] && strlen(event->base) < COUNTER_NAME_MAX);
		must(event->group < events->groups);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct counter_sources nowhere = { "/nonexistent", "/nonexistent" };
	char *text = malloc(size + 1), *rest = text, *list;
	struct counter_events events = { 0 };
	struct counter_event event = { 0 };
	struct err err = { 0 };

	if (!text)
		abort();
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	list = strsep(&rest, "\n");
	if (counter_events_parse(&events, list, &nowhere, &err))
		must(err.code && err.what[0]);
	else
		must(events.count);
	must_be_whole(&events);
	if (rest)
		(void)!pmu_put_bits(rest, UINT64_MAX, &event);
	free(text);
	return 0;
}
