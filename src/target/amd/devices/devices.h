/*
 * Devices as the driver lists them, and as the tracer describes them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* properties.c: parses the driver's files, whose lines are "name number", into a structure, by a
 * list of names. */
struct property {
	const char *name;
	uint16_t at, size; /* of the member */
};

#define PROPERTY_OF(type, text, member)                                   \
	{                                                                 \
		text, offsetof(type, member), sizeof(((type *)0)->member) \
	}

void properties_parse(void *structure, const struct property *list, unsigned count,
		      const char *text);

/* The number that a text begins with; 0: none. */
uint64_t property_number(const char *text);

/* agent_parts.c: memory banks, caches, and links to other nodes. */
enum part_kind { PART_BANKS, PART_CACHES, PART_LINKS };

struct part_counts {
	uint32_t banks, caches, links;
};

/* Reads up to *count parts into an array that tools see; it stays mapped. *count becomes the number
 * read; 0 with NULL. */
const void *parts_read(uint32_t node, enum part_kind kind, uint32_t *count);

/* describe.c: what HSA and the driver's files know of a device, as lines "key=value"; cut if there
 * is no room. False: HSA does not know the device. */
bool device_describe(uint64_t device, char *text, size_t room);
