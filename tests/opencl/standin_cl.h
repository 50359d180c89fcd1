/*
 * STAND-IN of OpenCL drivers; see standin_cl.c.
 */
#pragma once

#include <stddef.h>

#define STANDIN_SLOTS       149 /* of OpenCL 3.0 */
#define STANDIN_OLD_SLOTS   89  /* of OpenCL 1.1 */
#define STANDIN_FINISH      47
#define STANDIN_BY_NAME     65
#define STANDIN_BY_NAME_FOR 107

struct standin_platform {
	void *const *table;
};

/* How often functions were really called. */
struct standin_counts {
	unsigned long old, beyond, current, newer, extension;
};

void *clGetExtensionFunctionAddress(const char *name);
struct standin_counts *standin_counts(void);
