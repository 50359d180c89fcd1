/*
 * Which runtime has made the code in a mapping without a file.
 */
#pragma once

#include "host/unwind/space.h"

struct engine {
	const char *name;   /* as people call it */
	const char *path;   /* what its code is called where nothing names it: "[JIT of erlang]" */
	const char *naming; /* how its functions get their names; NULL: there is no way */
};

/* Code of nobody that is known has one, too.  The mapping's own name counts first, then what else
 * the process has mapped. */
const struct engine *engine_of(const struct space *space, const struct space_range *range);
/* By its `path`, as recordings have it; NULL: it is none. */
const struct engine *engine_by_path(const char *path);
