/*
 * HotSpot is one Java virtual machine among several; others (OpenJ9) have a libjvm.so too.
 */
#pragma once

#include "host/process/maps.h"

/* Whether this mapped libjvm.so is HotSpot's, by its exported symbols.  -ENOENT, -EACCES: its file
 * cannot be read. */
int hotspot_check(pid_t pid, const struct mapping *library, bool *ret) MUST_CHECK;
