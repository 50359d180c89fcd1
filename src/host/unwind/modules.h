/*
 * The modules of all spaces: each file once, however many processes have it mapped.
 */
#pragma once

#include "host/process/maps.h"
#include "host/unwind/space.h"

/* What was found out about one mapping. */
struct module_place {
	const struct module *module;
	uint64_t bias;
};

/* From now on: files beyond so many are taken for code of no file, tables beyond so many bytes are
 * not made, and of files that have no name here (deleted, in another root) the last so many stay
 * open.  For samplers of processes that the user has not chosen. */
void modules_bound(size_t count, size_t table_bytes, size_t descriptors);

/* The module of an executable mapping; opened and compiled when it is the first of its file.
 * -ENOMEM. */
int module_of(struct module_place *ret, pid_t pid, const struct maps *maps,
	      const struct mapping *mapping) MUST_CHECK;
