/*
 * Names for the stacks of traced calls, of which recordings hold addresses: from the files of this
 * machine, where they are the same ones.  Each address is looked for once.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/table.h"
#include "host/model/model.h"

struct symbolizer;

struct call_name {
	const char *function, *module; /* live as long as the names */
	bool is_named;                 /* else the function is a location: "libfoo.so+0x1234" */
};

/* Zero is one that knows none yet. */
struct call_names {
	struct symbolizer *symbolizer;
	struct table modules; /* (process, address of its beginning): number */
	struct table found;   /* (process, address): its place in `items` */
	struct call_name *items;
	size_t count, room;
	struct pool texts;
	uint64_t layout; /* a hash of where which modules were */
};

/* Of an address to which a call returns.  The files are those of a process that lives, where that
 * is said; else only what can be proven to be the same.  NULL: no memory. */
const struct call_name *call_names_find(struct call_names *names,
					const struct model_process *process, uint64_t address,
					bool is_live);
/* Forgets all names if the modules of the model, a later one of the same session, are not those of
 * the one before: others may lie where they did. */
void call_names_follow(struct call_names *names, const struct model *model);
void call_names_done(struct call_names *names);
