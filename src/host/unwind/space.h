/*
 * The address space of a process: its mappings, and the unwind table of each module.  All spaces
 * share modules, which live until the program ends, so frames can be named after the process has
 * ended.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/tables/table.h"

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
	unsigned number; /* from 0, in the order of their loading */
	char *path;      /* in the target's view; "[vdso]" */
	uint64_t dev, inode;
	unsigned char build_id[32];
	unsigned build_id_size;
	bool is_object;  /* an ELF object; else a file may hold what a runtime generated (memfd) */
	bool is_deleted; /* deleted, or replaced by another file of that name */
	const struct unwind_table *table; /* NULL: none could be made, see complaint */
	char complaint[128];
	const char *image_path; /* opens its bytes: its path, or /proc/self/fd/N for what has none
				   (deleted, in another root, the vdso); NULL: nothing does, or
				   others needed the descriptor (modules_bound()) */
};

/* Other code was generated at run time (JIT), or is the kernel's. */
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

/* Generated code of the process, with rules found for it. */
struct made_code {
	uint64_t start, end;
	struct unwind_table *table; /* its addresses are those in memory */
};

struct space {
	pid_t pid;
	uint64_t start_stack;       /* the program's arguments: its first function's stack; 0: not
				       readable */
	size_t ranges_max;          /* limit of executable mappings; 0: none */
	size_t ranges_beyond;       /* mappings beyond the limit */
	unsigned generation;        /* counts changes of ranges */
	struct space_range *ranges; /* executable ones, ascending */
	size_t count;
	struct made_code *made; /* ascending; preferred to modules' tables */
	size_t made_count;
	unsigned made_generation; /* counts its changes */
};

int space_open(struct space **ret, pid_t pid, struct err *err) MUST_CHECK;
/* Reads the mappings again; drops ranges that were unmapped, makes tables of new modules. */
int space_refresh(struct space *space, struct err *err) MUST_CHECK;
/* The same, but keeps unmapped ranges where nothing else is mapped now: for earlier samples. */
int space_merge(struct space *space, struct err *err) MUST_CHECK;
/* Adds an executable mapping from a record; drops what it covers.  -ENOMEM. */
int space_map(struct space *space, const struct mapping *mapping) MUST_CHECK;
/* The space of a child at its fork: its parent's (NULL: empty). */
int space_fork(struct space **ret, const struct space *parent, pid_t pid) MUST_CHECK;
/* After an exec: drops all mappings. */
void space_forget(struct space *space);
/* Owns the made code from now on, in place of that before. */
void space_set_made(struct space *space, struct made_code *made, size_t count);
void made_code_free(struct made_code *made, size_t count);
/* The table for an address in this range, and its bias; NULL: none. */
const struct unwind_table *space_table(const struct space *space, const struct space_range *range,
				       uint64_t address, uint64_t *ret_bias);
const struct space_range *space_find(const struct space *space, uint64_t address);
/* Whether rules lead to other stacks, or to what a runtime keeps elsewhere (Go, LuaJIT). */
bool space_leaves_stacks(const struct space *space);
void space_close(struct space *space);

/* All modules of all spaces, by number. */
size_t modules_count(void);
const struct module *module_at(size_t number);
