/*
 * Counters as AMD's files define them: what a block of a device counts by the number of an event,
 * or what is computed from others.  A definition holds for one architecture.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/pool.h"

#include <stdbool.h>

/* Files come from whoever can set a variable: their size, and what they make, is limited. */
#define DEFINITIONS_FILE_MAX ((size_t)8 << 20)
#define DEFINITIONS_MAX      65536u
#define DEFINITIONS_TOOL_MAX 16384u
#define DEFINITION_NAME_MAX  96u

struct amd_counter {
	const char *name, *description, *architecture;
	const char *block;      /* NULL: it is computed */
	uint64_t event;         /* bits from 32 on are its flags */
	const char *expression; /* NULL: a block counts it */
	uint32_t number;        /* of its name, from 0 in the order of the file */
};

/* Zero is empty. */
struct amd_counters {
	struct amd_counter *items;
	size_t count, room;
	struct pool texts;
	uint32_t names; /* so many are different */
	uint32_t more;  /* so many may come yet, where is_limited */
	bool is_limited;
	char path[256]; /* of the file they were read from; "": none */
};

/* Adds what a file defines; a definition that comes again replaces the one before.  -EINVAL says
 * the line. */
int amd_counters_read(struct amd_counters *counters, const char *path, struct err *err) MUST_CHECK;
int amd_counters_parse(struct amd_counters *counters, const char *text, size_t size,
		       const char *name, struct err *err) MUST_CHECK;

/* The same, of what a tool has brought: at most DEFINITIONS_TOOL_MAX. */
int amd_counters_parse_tool(struct amd_counters *counters, const char *text, size_t size,
			    struct err *err) MUST_CHECK;

/* AMD's file: in `folder`; where that is NULL, where ROCPROFILER_METRICS_PATH says, else where ROCm
 * is installed.  -ENOENT says all of the places. */
int amd_counters_load(struct amd_counters *counters, const char *folder,
		      struct err *err) MUST_CHECK;
void amd_counters_done(struct amd_counters *counters);

/* NULL: it is not defined there. */
const struct amd_counter *amd_counter_find(const struct amd_counters *counters,
					   const char *architecture, const char *name);
bool amd_counters_know(const struct amd_counters *counters, const char *architecture);

/* For its reader: adds one, of which all texts are kept. */
int amd_counters_add(struct amd_counters *counters, const struct amd_counter *counter) MUST_CHECK;
