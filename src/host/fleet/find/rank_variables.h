/*
 * Variables of other processes, those they were started with, or those in their libc now; and the
 * variables in which launchers pass the rank, the most trustworthy first: a rank that mpirun starts
 * inside Slurm has Slurm's variables too, and those are the daemon's.  Symbols in the memory of a
 * running process: of its executable, then of its libraries.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/process/memory.h"
#include "shared/base/macros.h"

#include <stdbool.h>
#include <sys/types.h>

/* Zero is none.  Entries "NAME=value" that end with zeros, as in /proc. */
struct variables {
	char *text;
	size_t size;
};

/* 0; -errno if they may not be read. */
int variables_read(struct variables *ret, pid_t pid) MUST_CHECK;
/* The same from the array that libc's `environ` points to, if it is found. */
int variables_read_live(struct variables *ret, pid_t pid) MUST_CHECK;
void variables_done(struct variables *variables);
DEFINE_STRUCT_CLEANUP(variables, variables_done)

/* NULL: not set. */
const char *variables_value(const struct variables *variables, const char *name);

struct rank_variable {
	const char *name;
	const char *size_name; /* the number of ranks; NULL: none */
};

/* Ends with an entry without a name. */
extern const struct rank_variable rank_variables[];
#define RANK_VARIABLES_MAX 16u

/* False: there is no such variable, or no number in it. */
bool rank_variable_read(const struct variables *variables, const struct rank_variable *variable,
			uint32_t *ret_rank, uint32_t *ret_size);

/* The address of the first defined dynamic symbol of that name; -ENOENT, -errno. */
int mapped_symbol_find(pid_t pid, int memory, const char *name, uint64_t *ret) MUST_CHECK;
