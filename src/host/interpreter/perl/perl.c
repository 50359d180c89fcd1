/*
 * Perl, built with threads as Debian's is: the interpreter of the first thread has stacks of
 * contexts, of which those of subroutines are shown.  Their positions are the last statements
 * executed: each has its file and its line.
 */
#include "host/interpreter/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SYMBOL_VERSION,
	SYMBOL_INTERPRETER,
	SYMBOL_LOOP,
	SYMBOL_OPERATIONS,
};

/* Offsets are from the headers of Perl on 64-bit machines, with threads.  Fields behind a structure
 * of the C library are not used: its size varies. */
static const struct kernel_interpreter walk = {
	.start = KERNEL_NO_STEP,
	.thread_next = KERNEL_NO_STEP,
	.line = KERNEL_NO_STEP,
	.frames = KERNEL_FRAMES_CONTEXTS,
	.frame_size = 104,
	.frame_stride = 104,
	.frame_at = 16,
	.frame_mark = 48,
	.frame_code = 72,
	.contexts = { .at = 208,
		      .stack = 224,
		      .first = 8,
		      .previous = 16,
		      .last = 32,
		      .kind_mask = 15,
		      .kind = 9 /* CXt_SUB */,
		      .other_kind = 10 /* CXt_FORMAT */ },
};

/* The number of the operation that begins a statement, in this version of Perl 5; 0: not known. */
static unsigned statement_of(unsigned version)
{
	switch (version) {
	case 36:
		return 195;
	case 38:
	case 40:
		return 198;
	case 42:
		return 202;
	}
	return 0;
}

/* All values. */
#define VALUE_BYTES 16u
#define VALUE_USES  8u
#define VALUE_FLAGS 12u
#define KIND_MASK   0xffu
#define KIND_GLOB   9u
#define KIND_HASH   12u
#define KIND_CODE   13u
#define KIND_FORMAT 14u

#define CODE_BYTES   96u
#define CODE_PACKAGE 32u
#define CODE_GLOB    56u
#define CODE_FLAGS   92u
#define CODE_NAMED   0x8000u /* CODE_GLOB leads to the name itself */
#define GLOB_NAME    32u
#define GLOB_PACKAGE 40u
#define HASH_NAME    32u
#define HASH_NAMES   60u /* how many there are; 0: HASH_NAME leads to the only one */
#define HASH_BYTES   64u
#define NAME_LENGTH  4u
#define NAME_TEXT    8u

#define STATEMENT_BYTES 56u
#define STATEMENT_DOES  16u
#define STATEMENT_LINE  36u
#define STATEMENT_FILE  48u

static int perl_recognise(struct interpreter *self, const struct space *space, struct err *err)
{
	unsigned char version = 0;

	(void)space;
	if (target_read(&self->memory, self->symbols[SYMBOL_VERSION].start, &version, 1))
		return err_set(err, -EOPNOTSUPP, "its version cannot be read");
	if (!self->symbols[SYMBOL_INTERPRETER].start)
		return err_set(err, -EOPNOTSUPP, "builds without threads are not supported");
	if (!statement_of(version))
		return err_set(err, -EOPNOTSUPP, "version 5.%u is not supported", version);
	self->version = version;
	self->walk = walk;
	self->walk.root = self->symbols[SYMBOL_INTERPRETER].start;
	if (self->symbols[SYMBOL_LOOP].start)
		interpreter_set_loop(self, self->symbols[SYMBOL_LOOP].start);
	return 0;
}

/* The body of a value that is one of these kinds, and in use. */
static int read_body(const struct target_memory *memory, uint64_t address, unsigned kind,
		     unsigned other_kind, unsigned char *body, size_t size)
{
	unsigned char value[VALUE_BYTES];
	unsigned is;

	if (address & 7 || target_read(memory, address, value, sizeof(value)))
		return -EFAULT;
	is = half_in(value, VALUE_FLAGS) & KIND_MASK;
	if ((is != kind && is != other_kind) || !half_in(value, VALUE_USES) ||
	    target_read(memory, word_in(value, 0), body, size))
		return -EFAULT;
	return 0;
}

static int read_name(const struct target_memory *memory, uint64_t address, char **ret)
{
	unsigned char head[NAME_TEXT];

	if (!address || target_read(memory, address, head, sizeof(head)) ||
	    half_in(head, NAME_LENGTH) > INT32_MAX)
		return -EFAULT;
	return target_text(memory, address + NAME_TEXT, half_in(head, NAME_LENGTH), ret);
}

static int read_package(const struct target_memory *memory, uint64_t address, char **ret)
{
	unsigned char body[HASH_BYTES];
	uint64_t name;

	if (read_body(memory, address, KIND_HASH, KIND_HASH, body, sizeof(body)))
		return -EFAULT;
	name = word_in(body, HASH_NAME);
	return read_name(memory, half_in(body, HASH_NAMES) ? target_word(memory, name) : name, ret);
}

/* "package::name". */
static int join_name(const struct target_memory *memory, uint64_t package, uint64_t name,
		     char **ret)
{
	char *own = NULL, *of = NULL;
	int r = read_name(memory, name, &own);

	if (!r)
		r = read_package(memory, package, &of);
	if (!r && asprintf(ret, "%s::%s", of, own) < 0)
		r = -ENOMEM;
	free(own);
	free(of);
	return r;
}

static int read_names(const struct target_memory *memory, uint64_t address, char **ret)
{
	unsigned char code[CODE_BYTES], body[GLOB_PACKAGE + 8];
	uint64_t glob;

	if (read_body(memory, address, KIND_CODE, KIND_FORMAT, code, sizeof(code)))
		return -EFAULT;
	glob = word_in(code, CODE_GLOB);
	if (half_in(code, CODE_FLAGS) & CODE_NAMED)
		return join_name(memory, word_in(code, CODE_PACKAGE), glob, ret);
	if (read_body(memory, glob, KIND_GLOB, KIND_GLOB, body, sizeof(body)))
		return -EFAULT;
	return join_name(memory, word_in(body, GLOB_PACKAGE), word_in(body, GLOB_NAME), ret);
}

static int read_function(const struct interpreter *self, uint64_t code, struct function *ret)
{
	struct function function = { .file = strdup("") };
	int r = 0;

	if (code == KERNEL_OUTSIDE)
		function.name = strdup("<main>");
	else
		r = read_names(&self->memory, code, &function.name);
	if (!r && (!function.file || !function.name))
		r = -ENOMEM;
	return function_hand_over(&function, r, ret);
}

static int read_spot(const struct interpreter *self, uint64_t at, struct function *ret)
{
	uint64_t operations = self->symbols[SYMBOL_OPERATIONS].start;
	unsigned char statement[STATEMENT_BYTES];
	struct function spot = { 0 };
	int r;

	if (at & 7 || target_read(&self->memory, at, statement, sizeof(statement)))
		return -EFAULT;
	/* The executed part of a statement is constant; else it was freed. */
	if (!operations ||
	    target_word(&self->memory, operations + statement_of(self->version) * 8) !=
		    word_in(statement, STATEMENT_DOES))
		return -EFAULT;
	r = target_string(&self->memory, word_in(statement, STATEMENT_FILE), &spot.file);
	spot.first_line = MIN(half_in(statement, STATEMENT_LINE), INT32_MAX);
	if (!r)
		*ret = spot;
	return r;
}

const struct interpreter_kind interpreter_perl = {
	.title = "Perl",
	.language = "perl",
	.size = sizeof(struct interpreter),
	.names = { "perl", "libperl" },
	.symbols = { [SYMBOL_VERSION] = "PL_version",
		     [SYMBOL_INTERPRETER] = "PL_curinterp",
		     [SYMBOL_LOOP] = "Perl_runops_standard",
		     [SYMBOL_OPERATIONS] = "PL_ppaddr" },
	.recognise = perl_recognise,
	.read = read_function,
	.read_spot = read_spot,
};
