/*
 * Fuzzes the parser of /proc/PID/maps: what it accepts is in order and can be found again.
 */
#include "fuzz.h"

#include <string.h>

#include "host/core/cleanup.h"
#include "host/process/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	struct err err;

	if (maps_parse((const char *)bytes, size, &maps, &err) < 0)
		return 0;
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.items[i];

		must(mapping->start < mapping->end);
		must(i == 0 || maps.items[i - 1].end <= mapping->start);
		must(maps_at(&maps, mapping->start) == mapping);
		must(maps_at(&maps, mapping->end - 1) == mapping);
		must(memchr(mapping->path, '\0', sizeof(mapping->path)) != NULL);
	}
	must(runtimes_find(&maps) < 1u << RUNTIME_COUNT);
	return 0;
}
