/*
 * The names of domains: in reports, in files, and in requests to the tracer.  Recordings of a newer
 * limpet may have unknown numbers: those are named "other N", and are calls.
 */
#pragma once

#include "shared/wire/domains.h"

/* "alloc", "hip", ..., "other 31"; of a byte. */
const char *domain_name(unsigned domain);
/* Above its table in a report: "calls: alloc", "kernels: time on devices". */
const char *domain_title(unsigned domain);
