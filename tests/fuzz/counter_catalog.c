/*
 * Fuzzes the catalog of counters that a target gets: what passes the check leads nowhere else.
 */
#include "fuzz.h"

#include <string.h>

#include "shared/wire/catalog.h"

static void must_lead_somewhere(const struct catalog *catalog)
{
	const struct catalog_counter *counters = catalog_list(catalog, CATALOG_COUNTERS);
	const struct catalog_node *nodes = catalog_list(catalog, CATALOG_NODES);
	const struct catalog_event *events = catalog_list(catalog, CATALOG_EVENTS);
	size_t letters = 0;

	for (uint32_t i = 0; i < catalog->lists[CATALOG_COUNTERS].count; i++) {
		letters += strlen(catalog_text(catalog, counters[i].name));
		for (uint32_t j = counters[i].first; j < counters[i].first + counters[i].count; j++)
			if (nodes[j].kind == CATALOG_EVENT)
				letters +=
					strlen(catalog_text(catalog, events[nodes[j].what].block));
	}
	must(letters < SIZE_MAX);
}

/* The head is put right, so that the rest is looked at, too. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t *memory = malloc(size + !size); /* of its exact size */
	struct catalog *catalog = (struct catalog *)memory;

	must(memory != NULL);
	memcpy(memory, bytes, size);
	if (!catalog_check(memory, size))
		must_lead_somewhere(catalog);
	if (size >= sizeof(*catalog)) {
		catalog->magic = CATALOG_MAGIC;
		catalog->version = CATALOG_VERSION;
		catalog->size = size;
		if (!catalog_check(memory, size))
			must_lead_somewhere(catalog);
	}
	free(memory);
	return 0;
}
