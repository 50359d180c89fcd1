/*
 * All counters of this machine's devices as the target gets them (shared/wire/catalog.h): names and
 * texts, and each expression as nodes of events, so that nothing in the target reads definitions.
 */
#pragma once

#include "host/counters/amd/definitions.h"

/* In memory that the caller frees.  `folder`: of the definitions; NULL: as installed.  A definition
 * that makes no sense is listed, and cannot be collected. */
int counter_catalog_make(const char *folder, void **ret, size_t *ret_size,
			 struct err *err) MUST_CHECK;
