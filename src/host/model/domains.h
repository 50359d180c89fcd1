/*
 * What domains are called: in reports, in files, and in what the tracer is asked for.  Recordings
 * of a newer limpet may hold numbers that this one does not know: those are called "other N", and
 * are calls.
 */
#pragma once

#include "shared/wire/domains.h"

/* "alloc", "hip", ..., "other 31"; of a byte. */
const char *domain_name(unsigned domain);
/* Above its table in a report: "calls: alloc", "kernels: time on devices". */
const char *domain_title(unsigned domain);
