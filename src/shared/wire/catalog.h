/*
 * The counters of a machine's devices, as the host has read them from AMD's definitions: one piece
 * of memory, for the code that serves tools in the target.  Numbers of other items are indexes in
 * their lists; those of texts are offsets in theirs.
 */
#pragma once

#include "shared/base/macros.h"

#define CATALOG_MAGIC       0x4c504341u /* "LPCA" */
#define CATALOG_VERSION     1u
#define CATALOG_MAX_BYTES   ((uint64_t)64 << 20)
#define CATALOG_IDS_MAX     65535u /* ids of counters have 16 bits in ids of records */
#define CATALOG_DIMENSIONS  6u     /* XCC, AID, engine, array, WGP, instance */
#define CATALOG_DEEP        64u    /* depth of nesting below a node */
#define CATALOG_NODES_MAX   1024u  /* of one counter */
#define CATALOG_DEVICES_MAX 64u
#define CATALOG_SPARES      64u /* counters without a name, behind those of a device */

enum catalog_list_kind {
	CATALOG_DEVICES,
	CATALOG_COUNTERS,
	CATALOG_EVENTS,
	CATALOG_NODES,
	CATALOG_CHOICES,
	CATALOG_TEXTS, /* bytes */
	CATALOG_LISTS,
};

struct catalog {
	uint32_t magic, version;
	uint64_t size;
	struct {
		uint32_t at, count; /* at: from the begin, a multiple of 8 */
	} lists[CATALOG_LISTS];
};

struct catalog_device {
	uint32_t node; /* the driver's */
	uint32_t xccs, engines, units, arrays_per_engine, domain, location;
	uint32_t architecture;
	uint32_t first, count; /* its counters: the id of counter i is i + 1 */
};

struct catalog_counter {
	uint32_t name, description;
	uint32_t block, expression; /* texts, one of which is empty */
	uint32_t first, count;      /* its nodes, the last one is the whole; none: it cannot be
				       collected here */
};

/* An event that a block of the device counts. */
struct catalog_event {
	uint32_t event, flags;
	uint32_t block;
	uint32_t limit; /* so many of the block at once; 0: not known */
};

enum catalog_node_kind {
	CATALOG_NUMBER,
	CATALOG_EVENT,
	CATALOG_ADD,
	CATALOG_SUBTRACT,
	CATALOG_MULTIPLY,
	CATALOG_DIVIDE,
	CATALOG_REDUCE,
	CATALOG_SELECT,
	CATALOG_NODE_KINDS,
};

enum catalog_reduction {
	CATALOG_SUM,
	CATALOG_MAX,
	CATALOG_MIN,
	CATALOG_AVERAGE,
	CATALOG_REDUCTIONS,
};

struct catalog_node {
	uint16_t kind;        /* enum catalog_node_kind */
	uint16_t dimensions;  /* bits: of a reduction, over these (0: all); of a selection, by these
			       */
	uint32_t what;        /* the event, the choice, or enum catalog_reduction */
	uint32_t left, right; /* counted from the counter's first node, and before this one */
	double number;
};

/* Of a selection: bits, by dimension. */
struct catalog_choice {
	uint64_t numbers[CATALOG_DIMENSIONS];
};

/* Those of its dimensions (bits) in which one number is chosen: they are constant. */
static inline unsigned catalog_choice_single(const struct catalog_choice *choice,
					     unsigned dimensions)
{
	unsigned single = 0;

	for (unsigned i = 0; i < CATALOG_DIMENSIONS; i++)
		if (dimensions & 1u << i && !(choice->numbers[i] & (choice->numbers[i] - 1)))
			single |= 1u << i;
	return single;
}

/* 0 when every number in it leads to something; else -EPROTO. */
int catalog_check(const void *memory, uint64_t size) MUST_CHECK;

/* Of a checked one. */
static inline const void *catalog_list(const struct catalog *catalog, enum catalog_list_kind list)
{
	return (const char *)catalog + catalog->lists[list].at;
}

static inline const char *catalog_text(const struct catalog *catalog, uint32_t text)
{
	return (const char *)catalog_list(catalog, CATALOG_TEXTS) + text;
}
