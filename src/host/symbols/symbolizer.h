/*
 * Names for addresses of any code: files, the kernel, the vdso, and generated code.  One thread at
 * a time.
 */
#pragma once

#include "host/symbols/symbol_file.h"

enum code_kind {
	CODE_UNKNOWN, /* no or unknown mapping; addresses are the process's */
	CODE_FILE,    /* addresses are those of the file (p_vaddr) */
	CODE_VDSO,    /* the same */
	CODE_JIT,     /* memory without a file; addresses are the process's */
	CODE_KERNEL,
	CODE_KINDS,
};

/* One function at an address; several where functions were inlined. */
struct code_name {
	const char *function; /* readable; never NULL */
	const char *file;     /* "": not known */
	unsigned line;
};

#define CODE_NAMES_MAX 64u

struct code_names {
	struct code_name items[CODE_NAMES_MAX]; /* innermost first; the last one was not inlined */
	size_t count;
	bool is_named; /* else the function is "module+0x1234", where 1234 is its begin or, where
			  not even that is known, the address; of CODE_JIT it is the origin's path
			*/
};

struct symbolizer;

struct symbolizer *symbolizer_new(void); /* NULL: no memory */
void symbolizer_free(struct symbolizer *symbolizer);
/* How many texts it keeps. */
size_t symbolizer_texts(const struct symbolizer *symbolizer);

/* Its number, from 0 in order; -ENOMEM.  `pid` of the origin identifies the process of CODE_JIT. */
int symbolizer_module(struct symbolizer *symbolizer, enum code_kind kind,
		      const struct symbol_origin *origin) MUST_CHECK;

/* Finds the files in which runtimes name their code, and reads them; periodically, as processes may
 * end. */
void symbolizer_follow(struct symbolizer *symbolizer);

/* Reads what was added to those already found; cheap. */
void symbolizer_read(struct symbolizer *symbolizer);

/* What was read of a runtime's code is freed, until it is looked for again; texts stay. */
void symbolizer_forget(struct symbolizer *symbolizer, unsigned module);

/* Runtimes use addresses again: which of the functions that were at this one it is at that time
 * (CLOCK_MONOTONIC).  0 where that is not known yet, and for all other code. */
uint32_t symbolizer_version(const struct symbolizer *symbolizer, unsigned module, uint64_t address,
			    uint64_t time_ns);

struct code_location {
	uint64_t address;
	uint32_t version; /* 0: the first one */
};

/* At least one name, except without memory.  Texts live as long as the symbolizer. */
int symbolizer_find_version(struct symbolizer *symbolizer, unsigned module,
			    const struct code_location *location, bool wants_lines,
			    struct code_names *ret) MUST_CHECK;
int symbolizer_find(struct symbolizer *symbolizer, unsigned module, uint64_t address,
		    bool wants_lines, struct code_names *ret) MUST_CHECK;
