/*
 * The Python in an address space: which version, and where its parts are.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/space.h"

#include <elf.h>
#include <stdbool.h>

struct python_part {
	uint64_t start, end; /* addresses of the process */
};

struct python_binary {
	const char *path;           /* the module's */
	unsigned minor;             /* of version 3; 0: only the variable has it */
	uint64_t version;           /* a variable with the version; 0: none, before 3.11 */
	uint64_t runtime;           /* _PyRuntime */
	uint64_t code_type;         /* PyCode_Type; 0: not found */
	struct python_part loop[2]; /* the interpreter's loop; its cold part */
};

/* Whether a file of that name may be an interpreter of Python 3. */
bool python_is_name(const char *path);

/* -ENOENT: there is none.  Opens files, reads no memory of the process. */
int python_binary_find(const struct space *space, struct python_binary *ret) MUST_CHECK;
