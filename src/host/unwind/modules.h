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

/* The module of an executable mapping; opened and compiled when it is the first of its file.
 * -ENOMEM. */
int module_of(struct module_place *ret, pid_t pid, const struct maps *maps,
	      const struct mapping *mapping) MUST_CHECK;
