/*
 * Fuzzes the list of a recorded fleet, which may be anybody's: whatever is in it, ranks that come
 * out of it are whole, and their files lie in the folder.
 */
#include "fuzz.h"

#include "host/core/text/json_reader.h"
#include "host/fleet/folder/fleet_folder.h"

#include <string.h>

static void fleet_try(const char *text, size_t size)
{
	struct fleet fleet = { 0 };

	(void)!fleet_json_read(text, size, &fleet);
	for (size_t i = 0; i < fleet.rank_count; i++) {
		const struct fleet_rank *rank = &fleet.ranks[i];

		must(rank->number <= RANK_MAX && rank->state < RANK_STATES);
		must(rank->node == NODE_NONE || rank->node < fleet.node_count);
		must(!rank->is_settled || !strchr(rank->recording, '/'));
	}
	fleet_done(&fleet);
}

/* Passing over a value must come to its end, or fail. */
static void value_try(const char *text, size_t size)
{
	struct json_reader reader = json_reader_of(text, size);

	json_read_past(&reader);
	must(reader.at <= reader.end && (reader.has_failed || !reader.depth));
	(void)json_read_whole(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	fleet_try((const char *)bytes, size);
	value_try((const char *)bytes, size);
	return 0;
}
