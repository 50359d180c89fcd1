/*
 * All counters of this machine's devices as the target gets them (shared/wire/catalog.h): names and
 * texts, and each expression as nodes of events, so that nothing in the target reads definitions.
 */
#pragma once

#include "host/counters/amd/definitions.h"

/* The sources of definitions. */
struct catalog_origin {
	const char *folder; /* NULL: as installed */
	const char *text;   /* a tool's definitions, after them; NULL: none */
	size_t text_size;
	bool is_text_all; /* instead of them */
};

/* In memory that the caller frees.  A definition that makes no sense is listed, and cannot be
 * collected. */
int counter_catalog_make(const struct catalog_origin *origin, void **ret, size_t *ret_size,
			 struct err *err) MUST_CHECK;
