/*
 * Which GPU runtimes a process has loaded.
 */
#pragma once

#include "host/process/maps.h"
#include "host/runtimes/runtimes.h"

/* One bit for each enum runtime. */
unsigned runtimes_find(const struct maps *maps);

/* The path of a library that is mapped; NULL: it is not.  Valid as long as the maps. */
const char *runtime_library_path(const struct maps *maps, const struct runtime_library *library);
