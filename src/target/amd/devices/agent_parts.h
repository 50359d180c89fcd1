/*
 * Parts of a node of AMD's driver: memory banks, caches, links to other nodes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum part_kind { PART_BANKS, PART_CACHES, PART_LINKS };

struct part_counts {
	uint32_t banks, caches, links;
};

/* Reads up to *count parts into an array that tools see; it stays mapped. *count becomes the number
 * read; 0 with NULL. */
const void *parts_read(uint32_t node, enum part_kind kind, uint32_t *count);
