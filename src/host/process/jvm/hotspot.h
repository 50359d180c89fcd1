/*
 * HotSpot is one Java virtual machine among several; others (OpenJ9) have a libjvm.so too.
 */
#pragma once

#include "host/process/maps.h"

/* Whether this mapped libjvm.so is HotSpot's, by what it exports.  -ENOENT, -EACCES: its file
 * cannot be looked at. */
int hotspot_check(pid_t pid, const struct mapping *library, bool *ret) MUST_CHECK;
