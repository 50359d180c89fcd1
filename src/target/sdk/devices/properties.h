/*
 * Files of AMD's driver that have lines "name number": into a structure, by a list of names.
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

/* What a text begins with; 0: no number. */
uint64_t property_number(const char *text);
