/*
 * Names of code that a runtime makes while it runs.  Addresses are used again: each name has the
 * time from which on it holds, and a look-up has a time too.
 */
#pragma once

#include "host/core/pool.h"

#include <stdbool.h>

/* What comes after so many has no name. */
#define JIT_NAMES_MAX (2u << 20)
#define JIT_TEXT_MAX  (128u << 20)
/* Of all processes together, with what keeps them. */
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
	struct jit_name *items; /* by start, then by version; what is not sorted yet is behind */
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

/* After some were added, before they are looked for.  -ENOMEM: what is new is not found. */
int jit_names_sort(struct jit_names *names) MUST_CHECK;

/* Which name holds for an address at this time: the latest that is not younger; 0: none is known.
 */
uint32_t jit_names_version(const struct jit_names *names, uint64_t address, uint64_t time_ns);

/* The name of this version, which holds the address; of version 0 the first that came.  NULL. */
const struct jit_name *jit_names_find(const struct jit_names *names, uint64_t address,
				      uint32_t version);

/* The latest name of an address, also of what is not sorted yet, as far as that is not long ago. */
const struct jit_name *jit_names_latest(const struct jit_names *names, uint64_t address);

static inline const char *jit_name_text(const struct jit_names *names, const struct jit_name *name)
{
	return pool_text(&names->texts, name->text);
}

void jit_names_done(struct jit_names *names);
