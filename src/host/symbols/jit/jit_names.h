/*
 * Names of generated code.  Addresses are reused: each name is valid from a time on, and a look-up
 * has a time too.
 */
#pragma once

#include "host/core/pool.h"

#include <stdbool.h>

/* Further code gets no name. */
#define JIT_NAMES_MAX (2u << 20)
#define JIT_TEXT_MAX  (128u << 20)
/* For all processes together, with overhead. */
#define JIT_ALL_MAX ((size_t)512 << 20)

struct jit_name {
	uint64_t start, end;
	uint64_t born_ns; /* CLOCK_MONOTONIC; not later than its code */
	uint64_t reach;   /* the highest end of all up to this one */
	uint32_t version; /* from 1, in the order of their coming */
	uint32_t text;    /* in the pool */
};

/* Zero is empty. */
struct jit_names {
	struct jit_name *items; /* by start, then by version; unsorted ones are at the end */
	size_t count, sorted, room;
	struct pool texts;
	uint64_t text_bytes;
	bool is_full;
};

/* -EINVAL for code of no size, or beyond the end of memory; -ENOMEM, -EOVERFLOW. */
int jit_names_add(struct jit_names *names, uint64_t start, uint64_t size, const char *name,
		  uint64_t born_ns) MUST_CHECK;

/* No more can be added. */
bool jit_names_are_full(const struct jit_names *names);

/* Call after adding, before a search.  -ENOMEM: new ones are not found. */
int jit_names_sort(struct jit_names *names) MUST_CHECK;

/* Which name holds for an address at this time: the latest that is not younger; 0: none is known.
 */
uint32_t jit_names_version(const struct jit_names *names, uint64_t address, uint64_t time_ns);

/* The name of this version that contains the address; for version 0 the first one.  NULL. */
const struct jit_name *jit_names_find(const struct jit_names *names, uint64_t address,
				      uint32_t version);

/* The latest name of an address, also of recent unsorted ones. */
const struct jit_name *jit_names_latest(const struct jit_names *names, uint64_t address);

static inline const char *jit_name_text(const struct jit_names *names, const struct jit_name *name)
{
	return pool_text(&names->texts, name->text);
}

void jit_names_done(struct jit_names *names);
