/*
 * Counters as defined in AMD's files: an event of a block of a device by its number, or an
 * expression of others.  A definition holds for one architecture.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/pool.h"

#include <stdbool.h>

/* The user chooses these files by a variable: their size and what they define is limited. */
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
	uint32_t more;  /* the remaining number, where is_limited */
	bool is_limited;
	char path[256]; /* of the file they were read from; "": none */
};

/* Adds a file's definitions; a repeated one replaces the one before.  -EINVAL has the line. */
int amd_counters_read(struct amd_counters *counters, const char *path, struct err *err) MUST_CHECK;
int amd_counters_parse(struct amd_counters *counters, const char *text, size_t size,
		       const char *name, struct err *err) MUST_CHECK;

/* The same for a tool's definitions: at most DEFINITIONS_TOOL_MAX. */
int amd_counters_parse_tool(struct amd_counters *counters, const char *text, size_t size,
			    struct err *err) MUST_CHECK;

/* AMD's file: in `folder`; if that is NULL, at ROCPROFILER_METRICS_PATH, else where ROCm is
 * installed.  -ENOENT lists all these paths. */
int amd_counters_load(struct amd_counters *counters, const char *folder,
		      struct err *err) MUST_CHECK;
void amd_counters_done(struct amd_counters *counters);

/* NULL: it is not defined there. */
const struct amd_counter *amd_counter_find(const struct amd_counters *counters,
					   const char *architecture, const char *name);
bool amd_counters_know(const struct amd_counters *counters, const char *architecture);
