/*
 * Every record was checked by itself (record_check); whether they belong together is seen here.
 */
#include "host/collect/readings.h"

#include <stdlib.h>
#include <string.h>

bool reading_begin(struct reading_draft *draft, const struct record_call *call)
{
	const uint64_t *values = (const uint64_t *)(call + 1);

	if (!draft->counts)
		draft->counts = calloc(READING_COUNTS_MAX, sizeof(*draft->counts));
	draft->reading = (struct device_reading){ .begin = call->begin,
						  .at = call->end,
						  .device = call->head.count > 0 ? values[0] : 0,
						  .counts = draft->counts };
	draft->expected = call->head.count > 1 ? MIN(values[1], (uint64_t)READING_COUNTS_MAX) : 0;
	return draft->counts;
}

bool reading_add(struct reading_draft *draft, const struct record *record)
{
	size_t had = draft->reading.count, more = MIN(record->count, draft->expected - had);

	if (!more)
		return false;
	memcpy(draft->counts + had, (const struct record_counts *)record + 1,
	       more * sizeof(*draft->counts));
	draft->reading.count += more;
	return draft->reading.count == draft->expected;
}

void reading_done(struct reading_draft *draft)
{
	free(draft->counts);
	*draft = (struct reading_draft){ 0 };
}
