/*
 * The modules of all spaces: each file once, for all processes that have it mapped.
 */
#pragma once

#include "host/process/maps.h"
#include "host/unwind/space.h"

/* The module of one mapping. */
struct module_place {
	const struct module *module;
	uint64_t bias;
};

/* Sets limits: further files count as code without a file, tables beyond this many bytes are not
 * made, and of files without a name here (deleted, in another root) only the last ones stay open.
 * For samplers of processes that the user has not chosen. */
void modules_bound(size_t count, size_t table_bytes, size_t descriptors);

/* The module of an executable mapping; opened and compiled at the first mapping of its file.
 * -ENOMEM. */
int module_of(struct module_place *ret, pid_t pid, const struct maps *maps,
	      const struct mapping *mapping) MUST_CHECK;
