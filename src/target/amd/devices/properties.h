/*
 * Parses the driver's files, whose lines are "name number", into a structure, by a list of names.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct property {
	const char *name;
	uint16_t at, size; /* of the member */
};

#define PROPERTY_OF(type, text, member)                                   \
	{                                                                 \
		text, offsetof(type, member), sizeof(((type *)0)->member) \
	}

void properties_take(void *structure, const struct property *list, unsigned count,
		     const char *text);

/* The number that a text begins with; 0: none. */
uint64_t property_number(const char *text);
