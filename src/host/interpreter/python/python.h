/*
 * Private to the kind Python: python.c recognises it, code.c reads its functions, threads.c its
 * threads.
 */
#pragma once

#include "host/core/err.h"
#include "host/interpreter/kind.h"
#include "shared/wire/kernel.h"
#include "shared/wire/thread_words.h"

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

struct python_thread {
	pid_t tid;
	uint64_t state; /* where it was found the last time */
};

struct python {
	struct interpreter base; /* first; its version is the minor one of 3 */
	struct python_layout layout;
	struct python_thread *threads; /* ascending tids */
	size_t thread_count, thread_room;
};

/* Symbols of the kind. */
enum python_symbol {
	PYTHON_RUNTIME,   /* _PyRuntime */
	PYTHON_LOOP,      /* the interpreter's loop */
	PYTHON_VERSION,   /* a variable with the version; 0: none, before 3.11 */
	PYTHON_CODE_TYPE, /* PyCode_Type; 0: not found */
};

static inline const struct python *python_of(const struct interpreter *interpreter)
{
	return (const struct python *)interpreter;
}

/* A word of its memory; 0 where none can be read. */
static inline uint64_t python_word(const struct python *self, uint64_t address)
{
	return target_word(&self->base.memory, address);
}

/* The part of the loop that the compiler put elsewhere; empty: none was found. */
struct code_range python_cold_loop(const struct interpreter *self);

int python_read_function(const struct interpreter *interpreter, uint64_t code,
			 struct function *ret) MUST_CHECK;
unsigned python_line_of(const struct interpreter *interpreter, const struct function *function,
			uint64_t at);

/* The line of an instruction.  `table` is foreign bytes; `at` counts bytes of instructions, and is
 * negative before the first one.  0: no line. */
unsigned python_line(enum python_lines kind, const unsigned char *table, size_t size,
		     unsigned first_line, int64_t at);

/* A text of Python, without control characters; the caller's to free.  -EFAULT: there is none. */
int python_text_read(const struct python *self, uint64_t address, char **ret) MUST_CHECK;

/* As in struct interpreter_threads. */
const char *python_why_unknown(const struct interpreter *interpreter);
size_t python_read_frames(struct interpreter *interpreter, pid_t tid, struct interpreted_frame *ret,
			  size_t room);
bool python_read_name(struct interpreter *interpreter, pid_t tid, char *ret, size_t room);
bool python_find_thread(struct interpreter *interpreter, pid_t tid, uint64_t *ret_state,
			uint64_t *ret_identity);
bool python_read_lock(const struct interpreter *interpreter, struct interpreter_lock *ret);

/* The address of the frame that called all others of a thread, and that of its code; 0: none. */
uint64_t python_outermost_frame(struct python *self, pid_t tid, uint64_t *ret_code);

/*
 * The offset of the kernel's number of a thread in the C library's block, to which pthread_self()
 * points.  Before 3.11 only this links Python's states to threads.
 */

/* Whether a file of that name may be the C library, or its threads. */
bool thread_number_is_library(const char *path);

/* As glibc describes it; 0: that makes no sense. */
unsigned thread_number_check(const struct thread_word *word, uint32_t block_size);

/* -ENOENT: no C library is mapped, or not yet.  -EOPNOTSUPP: it has no description. */
int thread_number_find(const struct space *space, const struct target_memory *memory,
		       unsigned *ret) MUST_CHECK;
