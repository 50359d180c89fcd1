/*
 * The interface of a language: how its interpreter is recognised, where its frames are, and how
 * their functions are read.  All bytes are foreign, and may change during the reading.
 */
#pragma once

#include "host/interpreter/interpreter.h"
#include "host/interpreter/memory.h"

#include <stdbool.h>

struct code_range {
	uint64_t start, end; /* addresses of the process */
};

#define INTERPRETER_SYMBOLS_MAX 4
#define INTERPRETER_NAMES_MAX   2

/* An interpreter in its process.  A kind that keeps more has a struct that begins with this one. */
struct interpreter {
	const struct interpreter_kind *kind;
	pid_t pid;
	struct target_memory memory;
	const struct module *module; /* its file */
	uint64_t bias;
	struct code_range symbols[INTERPRETER_SYMBOLS_MAX]; /* as the kind lists them; 0: missing */
	char title[16];                                     /* "Python 3.12", for messages */
	unsigned version;
	struct kernel_interpreter walk; /* for kernel programs */
	struct code_range loop[2];      /* and its part elsewhere; empty until it was found */
	unsigned loop_tries;
	/* Trees, by address: functions, and locations that are read by themselves. */
	void *functions, *spots;
	size_t known_count, known_bytes;
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
	unsigned char *table; /* lines in the language's own format */
	size_t table_size;
};

enum frame_role {
	FRAME_CALLED, /* by another function, in the same run of the loop */
	FRAME_ENTRY,  /* by C code, in a run of its own */
	FRAME_SHIM,   /* no function: C code called the frame before it */
	FRAME_HIDDEN, /* not to be shown */
};

struct interpreter_kind {
	const char *title;    /* "Ruby" */
	const char *language; /* "ruby": of its frames, in recordings too */
	size_t size;          /* of its struct */
	/* A file may be one if its name, without folders, is one of these words, or begins with one
	 * and something else than a letter behind it. */
	const char *names[INTERPRETER_NAMES_MAX];
	const char *symbols[INTERPRETER_SYMBOLS_MAX]; /* the file must have the first one */
	/* Fills version, walk and loop.  -EOPNOTSUPP: unknown version; -EAGAIN: it is still
	 * starting. */
	int (*recognise)(struct interpreter *self, const struct space *space, struct err *err);
	void (*close)(struct interpreter *self); /* frees what the kind has added; or NULL */
	/* An address in the interpreter's loop, found by a frame's code; 0: unknown.  NULL:
	 * recognise() has found the loop. */
	uint64_t (*find_loop)(const struct interpreter *self, uint64_t code);
	/* -EFAULT: there is none (any more), or it changed meanwhile; -ENOENT: it is no code of the
	 * language, and is not shown; -ENOMEM. */
	int (*read)(const struct interpreter *self, uint64_t code, struct function *ret);
	/* The line of a frame at `at`; 0: unknown.  NULL: use read_spot. */
	unsigned (*line)(const struct interpreter *self, const struct function *function,
			 uint64_t at);
	/* The file and the line (first_line; the name is empty) of a frame's `at`, if functions
	 * lack them; as read. */
	int (*read_spot)(const struct interpreter *self, uint64_t at, struct function *ret);
	/* NULL: FRAME_ENTRY if the frame has a mark. */
	enum frame_role (*role)(const struct interpreter *self,
				const struct interpreted_frame *frame);
	bool is_outermost_entry; /* the outermost frame is FRAME_ENTRY, whatever its role */
	const struct interpreter_threads *threads; /* NULL: only kernel programs read its frames */
};

#define KIND(name) extern const struct interpreter_kind interpreter_##name;
#include "host/interpreter/kinds.def"
#undef KIND

/* Whether a file of that path may be one. */
bool interpreter_kind_has_name(const struct interpreter_kind *kind, const char *path);

/* Finds the file and its symbols.  -ENOENT: there is none.  Opens files, reads no memory of the
 * process. */
int interpreter_find_binary(struct interpreter *self, const struct space *space) MUST_CHECK;

/* The loop is the function that contains this address of the process, if one is known by where
 * functions of its file begin. */
void interpreter_set_loop(struct interpreter *self, uint64_t address);

/* The largest function of its file; false: none is known. */
bool interpreter_find_largest(const struct interpreter *self, struct code_range *ret);

/* The first segment of its file with these rights (PF_X), in the process; false: it has none. */
bool interpreter_find_segment(const struct interpreter *self, unsigned rights,
			      struct code_range *ret);

/* The role of a frame with a code, and its location; 0: none, or no memory. */
enum frame_role interpreter_resolve(struct interpreter *self, const struct interpreted_frame *frame,
				    uint64_t *ret_location);

/* The last line that begins at or before it; 0: none does. */
unsigned function_line_at(const struct function *function, uint64_t at);

bool function_equals(const struct function *function, const struct function *other);
void function_done(struct function *function);
/* Where r is 0 it is the caller's from now on, else it is done with.  Returns r. */
int function_hand_over(struct function *function, int r, struct function *ret);
