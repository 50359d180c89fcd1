/*
 * The memory layout of objects by version of CPython.  Versions up to 3.12 are tables; since 3.13
 * the interpreter has a description of itself, at the beginning of _PyRuntime.
 */
#pragma once

#include "shared/wire/kernel.h"

#include "host/core/err.h"

/* Which frames were called by C code, and so have an interpreter loop of their own below them. */
enum python_entry {
	PYTHON_ENTRY_ALL,    /* all: 3.10 and before */
	PYTHON_ENTRY_MARKED, /* frames whose mark is not 0: 3.11 */
	PYTHON_ENTRY_SHIM,   /* those below a shim frame, which a mark shows: 3.12 on */
};

/* How line numbers are packed. */
enum python_lines {
	PYTHON_LINES_STEPS,     /* 3.9: co_lnotab */
	PYTHON_LINES_RANGES,    /* 3.10 */
	PYTHON_LINES_LOCATIONS, /* 3.11 on */
};

/* The location of an object's attribute values, whose names are in its type. */
enum python_values {
	PYTHON_VALUES_POINTER, /* a pointer before the object, one before that of its
				  dictionary: 3.11 */
	PYTHON_VALUES_TAGGED,  /* the pointer of its dictionary, when it is odd: 3.12 */
	PYTHON_VALUES_INSIDE,  /* behind the object: 3.13 */
};

struct python_layout {
	unsigned interpreters;     /* in _PyRuntime: the pointer to the first one */
	unsigned native_thread_id; /* in the state of a thread; 0: it has none */
	struct kernel_python walk; /* but for `interpreters` */
	enum python_entry entry;
	enum python_lines lines;
	unsigned unit; /* `at` of a frame counts so many bytes; 0: it is an address */
	/* In a code object.  qualname 0: it has none; instructions 0: they are elsewhere. */
	unsigned filename, name, qualname, linetable, firstlineno, instructions;
	/* Where the characters of a text begin: of ASCII only, and of others. */
	unsigned ascii_text, other_text;
	unsigned type_keys; /* in a type: the names of attributes; 0: not known */
	enum python_values values;
	/* The lock of the interpreter: in _PyRuntime, or a pointer in the interpreter; both 0: not
	 * known.  In it: its last holder, and whether it is held. */
	unsigned gil, gil_pointer, gil_holder, gil_locked;
};

/* Whether kernel programs identify a thread by its pthread_self(): on x86-64 the thread register
 * has it; on other machines that points elsewhere, and the kernel's number is needed. */
#if defined(__x86_64__)
#define PYTHON_THREADS_BY_REGISTER 1
#else
#define PYTHON_THREADS_BY_REGISTER 0
#endif

#define PYTHON_CODE_BYTES 256u /* the part of a code object that is read */

#define PYTHON_SHIM 3 /* the mark of PYTHON_ENTRY_SHIM */

/* So many bytes of _PyRuntime describe it. */
#define PYTHON_OFFSETS_BYTES 512u

/* Of version 3.`minor`, whose _PyRuntime begins with these bytes.  -EOPNOTSUPP: unknown, or
 * invalid. */
int python_layout_find(unsigned minor, const unsigned char *runtime, size_t size,
		       struct python_layout *ret, struct err *err) MUST_CHECK;
