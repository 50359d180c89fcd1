/*
 * What a node of AMD's driver is made of: banks of memory, caches, links to other nodes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum part_kind { PART_BANKS, PART_CACHES, PART_LINKS };

struct part_counts {
	uint32_t banks, caches, links;
};

/* A list of so many, as tools see them; stays for ever.  The number is that of those that are there
 * afterwards, and 0 where it gives NULL. */
const void *parts_read(uint32_t node, enum part_kind kind, uint32_t *count);
