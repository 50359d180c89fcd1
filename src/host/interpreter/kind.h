/*
 * The interface of a language's interpreter: how it is recognised, where its frames are, and how
 * their functions are read.  All bytes are foreign, and may change during the reading.
 */
#pragma once

#include "shared/wire/kernel.h"

#include "host/core/err.h"
#include "host/interpreter/memory.h"
#include "host/unwind/space.h"

#include <stdbool.h>

struct code_range {
	uint64_t start, end; /* addresses of the process */
};

#define INTERPRETER_SYMBOLS_MAX 4

/* Where an interpreter is in its process. */
struct interpreter_binary {
	const struct module *module;
	uint64_t bias;
	struct code_range symbols[INTERPRETER_SYMBOLS_MAX]; /* as the kind lists them; 0: missing */
};

/* An instruction, and the line from there on. */
struct function_line {
	uint32_t at, line;
};

/* The function of a frame.  Zero is empty. */
struct function {
	char *name, *file; /* UTF-8, without control characters */
	bool is_native;    /* written in C: no loop of the interpreter runs it */
	unsigned first_line;
	uint64_t code;               /* the address of its first instruction */
	struct function_line *lines; /* ascending */
	size_t line_count;
};

struct interpreter_kind {
	const char *title;    /* "Ruby" */
	const char *language; /* "ruby": of its frames, in recordings too */
	/* Whether a file of that name, without folders, may be one. */
	bool (*is_name)(const char *name);
	/* Symbols of the file, the first one of which it must have. */
	const char *symbols[INTERPRETER_SYMBOLS_MAX];
	/* The version, for people and for the functions below; and the layout for kernel programs.
	 * -EOPNOTSUPP: not known; -EAGAIN: it has not begun yet. */
	int (*recognise)(const struct interpreter_binary *binary,
			 const struct target_memory *memory, unsigned *ret_version,
			 struct kernel_interpreter *ret, struct err *err);
	/* An address in the interpreter's loop, as long as it was not found.  0: none is known. */
	uint64_t (*loop)(const struct interpreter_binary *binary,
			 const struct target_memory *memory, unsigned version, uint64_t code);
	/* -EFAULT: there is none (any more), or it changed meanwhile; -ENOENT: it is no code of the
	 * language, and is not shown; -ENOMEM. */
	int (*read)(const struct target_memory *memory, unsigned version, uint64_t code,
		    struct function *ret);
	/* The line of a frame at `at`; 0: unknown.  NULL: use read_spot. */
	unsigned (*line)(const struct function *function, uint64_t at);
	/* The file and the line (first_line; the name is empty) of a frame's `at`, if the function
	 * lacks them; as read. */
	int (*read_spot)(const struct interpreter_binary *binary,
			 const struct target_memory *memory, unsigned version, uint64_t at,
			 struct function *ret);
};

/* Whether a name is this word, or the word followed by something else than letters. */
bool interpreter_is_word(const char *name, const char *word);

/* All kinds, ended by NULL. */
extern const struct interpreter_kind *const interpreter_kinds[];
extern const struct interpreter_kind interpreter_ruby, interpreter_php, interpreter_perl,
	interpreter_lua, interpreter_luajit;

/* -ENOENT: there is none.  Opens files, reads no memory of the process. */
int interpreter_binary_find(const struct space *space, const struct interpreter_kind *kind,
			    struct interpreter_binary *ret) MUST_CHECK;

/* The function that holds an address of the process; false: none is known. */
bool interpreter_binary_function(const struct interpreter_binary *binary, uint64_t address,
				 struct code_range *ret);

/* The largest function of its file, by where functions begin; false: none is known. */
bool interpreter_binary_largest(const struct interpreter_binary *binary, struct code_range *ret);

/* Its code, in the process; false: it has none. */
bool interpreter_binary_code(const struct interpreter_binary *binary, struct code_range *ret);

/* Its writable data, in the process; false: it has none. */
bool interpreter_binary_data(const struct interpreter_binary *binary, struct code_range *ret);

/* The last line that begins at or before it; 0: none does. */
unsigned function_line_at(const struct function *function, uint64_t at);

void function_done(struct function *function);
/* Where r is 0 it is the caller's from now on, else it is done with.  Returns r. */
int function_hand_over(struct function *function, int r, struct function *ret);
