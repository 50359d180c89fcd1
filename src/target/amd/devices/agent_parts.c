/*
 * Reads the driver's files, one for each part.
 */
#include "target/amd/devices/devices.h"

#include "shared/arch/syscall.h"
#include "shared/base/macros.h"
#include "target/runtime/text.h"
#include "target/runtime/topology.h"

#include <sys/mman.h>

#define PARTS_MAX 4096u
#define FILE_MAX  2048u
#define PATH_MAX  64u

/* Layouts that tools see. */
struct bank {
	uint32_t heap, flags, width, clock;
	uint64_t bytes;
};
_Static_assert(sizeof(struct bank) == 24, "as in the headers");

struct cache {
	uint64_t processor, size;
	uint32_t level, line_bytes, lines_per_tag, association, latency, type;
};
_Static_assert(sizeof(struct cache) == 40, "as in the headers");

struct link {
	uint32_t type, major, minor, from, to, weight, least_latency, most_latency;
	uint32_t least_bandwidth, most_bandwidth, transfer_bytes, flags;
};
_Static_assert(sizeof(struct link) == 48, "as in the headers");

static const struct property bank_properties[] = {
	PROPERTY_OF(struct bank, "heap_type", heap),
	PROPERTY_OF(struct bank, "size_in_bytes", bytes),
	PROPERTY_OF(struct bank, "flags", flags),
	PROPERTY_OF(struct bank, "width", width),
	PROPERTY_OF(struct bank, "mem_clk_max", clock),
};

static const struct property cache_properties[] = {
	PROPERTY_OF(struct cache, "processor_id_low", processor),
	PROPERTY_OF(struct cache, "level", level),
	PROPERTY_OF(struct cache, "size", size),
	PROPERTY_OF(struct cache, "cache_line_size", line_bytes),
	PROPERTY_OF(struct cache, "cache_lines_per_tag", lines_per_tag),
	PROPERTY_OF(struct cache, "association", association),
	PROPERTY_OF(struct cache, "latency", latency),
	PROPERTY_OF(struct cache, "type", type),
};

static const struct property link_properties[] = {
	PROPERTY_OF(struct link, "type", type),
	PROPERTY_OF(struct link, "version_major", major),
	PROPERTY_OF(struct link, "version_minor", minor),
	PROPERTY_OF(struct link, "node_from", from),
	PROPERTY_OF(struct link, "node_to", to),
	PROPERTY_OF(struct link, "weight", weight),
	PROPERTY_OF(struct link, "min_latency", least_latency),
	PROPERTY_OF(struct link, "max_latency", most_latency),
	PROPERTY_OF(struct link, "min_bandwidth", least_bandwidth),
	PROPERTY_OF(struct link, "max_bandwidth", most_bandwidth),
	PROPERTY_OF(struct link, "recommended_transfer_size", transfer_bytes),
	PROPERTY_OF(struct link, "flags", flags),
};

static const struct {
	const char *folder;
	const struct property *properties;
	unsigned count;
	unsigned bytes;
} kinds[] = {
	[PART_BANKS] = { "mem_banks/", bank_properties, ARRAY_SIZE(bank_properties),
			 sizeof(struct bank) },
	[PART_CACHES] = { "caches/", cache_properties, ARRAY_SIZE(cache_properties),
			  sizeof(struct cache) },
	[PART_LINKS] = { "io_links/", link_properties, ARRAY_SIZE(link_properties),
			 sizeof(struct link) },
};

static bool part_read(uint32_t node, enum part_kind kind, uint32_t index, char *part)
{
	char path[PATH_MAX], text[FILE_MAX];
	size_t at = text_add(path, sizeof(path), 0, kinds[kind].folder);

	at = text_add_number(path, sizeof(path), at, index);
	text_add(path, sizeof(path), at, "/properties");
	if (!topology_read(node, path, text, sizeof(text)))
		return false;
	properties_parse(part, kinds[kind].properties, kinds[kind].count, text);
	return true;
}

const void *parts_read(uint32_t node, enum part_kind kind, uint32_t *count)
{
	uint32_t most = MIN(*count, PARTS_MAX), found = 0;
	uint64_t bytes = (uint64_t)most * kinds[kind].bytes;
	long r;

	*count = 0;
	if (!most)
		return NULL;
	r = raw6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return NULL;
	while (found < most &&
	       part_read(node, kind, found, (char *)r + (size_t)found * kinds[kind].bytes))
		found++;
	*count = found;
	if (found)
		return (const void *)r;
	raw2(SYS_munmap, r, bytes);
	return NULL;
}
