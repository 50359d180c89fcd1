/*
 * The address space of a process: what is mapped where, and the unwind table of each module.
 * Modules are shared by all spaces and live until the program ends, so frames can be named after
 * the process is gone.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/table.h"

#include <stdbool.h>
#include <sys/types.h>

enum module_kind {
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_ANONYMOUS, /* executable memory without a file: JIT */
};

struct mapping;

struct module {
	enum module_kind kind;
	unsigned number; /* from 0, in the order of their coming */
	char *path;      /* as the target sees it; "[vdso]" */
	uint64_t dev, inode;
	unsigned char build_id[32];
	unsigned build_id_size;
	bool is_object;  /* its bytes are an ELF object; else a file may hold what a
			    runtime made (memfd) */
	bool is_deleted; /* the file is gone, or another one has its name now */
	const struct unwind_table *table; /* NULL: none could be made; why is in complaint */
	char complaint[128];
	const char *image_path; /* opens its bytes: its path, or /proc/self/fd/N for what has none
				   (deleted, in another root, the vdso); NULL: nothing does, or
				   others needed the descriptor (modules_bound()) */
};

/* Else what runs there was made at run time (JIT), or is the kernel's. */
static inline bool module_is_file(const struct module *module)
{
	return module->kind == MODULE_FILE && module->is_object;
}

/* An executable mapping. */
struct space_range {
	uint64_t start, end;
	uint64_t bias;   /* address in memory - address in the file (p_vaddr) */
	uint64_t offset; /* in the file */
	const struct module *module;
};

/* Code that the process makes while it runs, with rules that were found for it. */
struct made_code {
	uint64_t start, end;
	struct unwind_table *table; /* relative to nothing: its addresses are those in memory */
};

struct space {
	pid_t pid;
	uint64_t start_stack; /* where the kernel put the program's arguments: its first function
				 began there; 0: it may not be known */
	size_t ranges_max;    /* executable mappings beyond so many are not looked at; 0: any */
	size_t ranges_beyond; /* that were not */
	unsigned generation;  /* counts the changes of ranges */
	struct space_range *ranges; /* executable ones, ascending */
	size_t count;
	struct made_code *made; /* ascending; they go before what modules say */
	size_t made_count;
	unsigned made_generation; /* counts their changes */
};

int space_open(struct space **ret, pid_t pid, struct err *err) MUST_CHECK;
/* Reads the mappings again; ranges that are gone leave, tables of new modules are made. */
int space_refresh(struct space *space, struct err *err) MUST_CHECK;
/* The same, but ranges that are gone stay where nothing else lies now: for what was seen before. */
int space_merge(struct space *space, struct err *err) MUST_CHECK;
/* An executable mapping that came, as a record tells of it; what it covers leaves.  -ENOMEM. */
int space_map(struct space *space, const struct mapping *mapping) MUST_CHECK;
/* The space of a child as it is born: its parent's (NULL: empty). */
int space_fork(struct space **ret, const struct space *parent, pid_t pid) MUST_CHECK;
/* Nothing is mapped any more: the process executed anew. */
void space_forget(struct space *space);
/* Takes them over, in place of those before. */
void space_set_made(struct space *space, struct made_code *made, size_t count);
void made_code_free(struct made_code *made, size_t count);
/* The table for an address in this range, and what to take from the address; NULL: none. */
const struct unwind_table *space_table(const struct space *space, const struct space_range *range,
				       uint64_t address, uint64_t *ret_bias);
const struct space_range *space_find(const struct space *space, uint64_t address);
/* Whether rules lead to other stacks, or to what a runtime keeps elsewhere (Go, LuaJIT). */
bool space_leaves_stacks(const struct space *space);
void space_close(struct space *space);

/* All modules of all spaces, by number. */
size_t modules_count(void);
const struct module *module_at(size_t number);
