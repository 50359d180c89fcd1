/*
 * What domains are called: in reports, in files, and in what the tracer is asked for.
 */
#pragma once

/* "alloc", "hip", ...; "other" for a number that is none. */
const char *domain_name(unsigned domain);
