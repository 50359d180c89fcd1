/*
 * Opens the interpreter of a process, and caches its functions; reads memory, stops nothing.
 */
#include "host/interpreter/interpreter_private.h"

#include "host/core/clock.h"
#include "host/process/memory.h"
#include "host/python/locations.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#define KNOWN_MAX  32768u     /* cached functions and spots: then the cache is emptied */
#define CHECK_NS   250000000u /* one is read again so often: another may be there */
#define RETRY_NS   20000000u  /* where there was none */
#define LOOP_TRIES 64u
#define BYTES_MAX  (64u << 20) /* of the cache */

struct known {
	uint64_t code, checked_ns;
	bool is_hidden;
	struct function function; /* no name: it is none */
};

static int read_process(void *context, uint64_t address, void *into, size_t size)
{
	const struct interpreter *self = context;
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = size ? memory_copy(self->pid, &local, 1, &remote, 1) : 0;

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

static struct target_memory memory_of(const struct interpreter *self)
{
	return (struct target_memory){ read_process, (void *)(uintptr_t)self };
}

static int open_kind(struct interpreter *self, const struct space *space, struct err *err)
{
	struct target_memory memory = memory_of(self);
	char byte;
	int r = interpreter_binary_find(space, self->kind, &self->binary);

	if (r)
		return r;
	r = read_process(self, self->binary.symbols[0].start, &byte, sizeof(byte));
	if (r)
		err_set(err, r, "its memory cannot be read: %s", strerror(-r));
	else
		r = self->kind->recognise(&self->binary, &memory, &self->version, &self->walk, err);
	if (r && r != -EAGAIN)
		err_while(err, "no functions of %s, native frames only", self->kind->title);
	return r;
}

int interpreter_open(struct interpreter **ret, const struct space *space, pid_t pid,
		     struct err *err)
{
	struct interpreter *self = calloc(1, sizeof(*self));
	int r = -ENOENT;

	if (!self)
		return err_set(err, -ENOMEM, "interpreter of %d: no memory", pid);
	self->pid = pid;
	for (size_t i = 0; r == -ENOENT && interpreter_kinds[i]; i++) {
		self->kind = interpreter_kinds[i];
		r = open_kind(self, space, err);
	}
	if (r)
		interpreter_close(self);
	else
		*ret = self;
	return r;
}

static void known_free(void *item)
{
	struct known *known = item;

	function_done(&known->function);
	free(known);
}

static void interpreter_forget(struct interpreter *self)
{
	tdestroy(self->functions, known_free);
	tdestroy(self->spots, known_free);
	self->functions = self->spots = NULL;
	self->known_count = self->known_bytes = 0;
}

void interpreter_close(struct interpreter *interpreter)
{
	if (!interpreter)
		return;
	interpreter_forget(interpreter);
	free(interpreter);
}

const struct kernel_interpreter *interpreter_walk_layout(const struct interpreter *interpreter)
{
	return &interpreter->walk;
}

static int address_compare(const void *a, const void *b)
{
	const struct known *left = a, *right = b;

	return left->code < right->code ? -1 : left->code > right->code;
}

/* Nothing is known of it yet. */
static struct known *add_known(struct interpreter *self, void **tree, uint64_t code)
{
	struct known *known = calloc(1, sizeof(*known));

	if (!known)
		return NULL;
	known->code = code;
	if (!tsearch(known, tree, address_compare)) {
		known_free(known);
		return NULL;
	}
	self->known_count++;
	return known;
}

/* An ended process cannot be read any more: its cache stays. */
static bool is_readable(const struct interpreter *self)
{
	char byte;

	return !read_process((void *)(uintptr_t)self, self->binary.symbols[0].start, &byte, 1);
}

static size_t size_of(const struct function *function)
{
	return (function->name ? strlen(function->name) : 0) +
	       (function->file ? strlen(function->file) : 0) +
	       function->line_count * sizeof(*function->lines);
}

static int read_known(struct interpreter *self, bool is_spot, uint64_t code, struct function *ret)
{
	struct target_memory memory = memory_of(self);

	if (is_spot)
		return self->kind->read_spot(&self->binary, &memory, self->version, code, ret);
	return self->kind->read(&memory, self->version, code, ret);
}

static void look_at(struct interpreter *self, bool is_spot, struct known *known)
{
	struct function function = { 0 };
	int r = read_known(self, is_spot, known->code, &function);

	known->checked_ns = now_ns();
	if (r && r != -ENOENT && !is_readable(self))
		return;
	self->known_bytes -= size_of(&known->function);
	function_done(&known->function);
	known->is_hidden = r == -ENOENT;
	if (!r)
		known->function = function;
	self->known_bytes += size_of(&known->function);
}

/* Servers make the same code at the same address for each request: code that is gone may return. */
static uint64_t pause_of(const struct known *known)
{
	return known->is_hidden || known->function.file ? CHECK_NS : RETRY_NS;
}

/* NULL: no memory. */
static const struct known *find_known(struct interpreter *self, bool is_spot, uint64_t code)
{
	void **tree = is_spot ? &self->spots : &self->functions;
	struct known key = { .code = code };
	struct known **found = tfind(&key, tree, address_compare);
	struct known *known = found ? *found : add_known(self, tree, code);

	if (known && now_ns() - known->checked_ns >= pause_of(known))
		look_at(self, is_spot, known);
	return known;
}

const struct function *interpreter_function_of(struct interpreter *self, uint64_t code)
{
	const struct known *known;

	if (self->known_count >= KNOWN_MAX || self->known_bytes >= BYTES_MAX)
		interpreter_forget(self);
	known = find_known(self, /* is_spot */ false, code);
	return known && !known->is_hidden ? &known->function : NULL;
}

static uint64_t spot_of(struct interpreter *self, const struct function *function, uint64_t at)
{
	const struct known *spot = find_known(self, /* is_spot */ true, at);
	const char *file = spot && spot->function.file ? spot->function.file : function->file;

	return language_location_make(self->kind->language, function->name, file,
				      spot ? spot->function.first_line : 0);
}

uint64_t interpreter_location_of(struct interpreter *self, const struct function *function,
				 uint64_t at)
{
	char gone[64];
	unsigned line;

	if (!function->name) {
		snprintf(gone, sizeof(gone), "[%s code that is gone]", self->kind->language);
		return language_location_make(self->kind->language, gone, "", 0);
	}
	if (self->kind->read_spot)
		return spot_of(self, function, at);
	line = function->is_native ? 0 : self->kind->line(function, at);
	return language_location_make(self->kind->language, function->name, function->file,
				      line || function->is_native ? line : function->first_line);
}

void interpreter_find_loop(struct interpreter *self, uint64_t code)
{
	struct target_memory memory = memory_of(self);
	uint64_t address;

	if (self->loop.end || self->loop_tries >= LOOP_TRIES)
		return;
	self->loop_tries++;
	address = self->kind->loop(&self->binary, &memory, self->version, code);
	if (!address || !interpreter_binary_function(&self->binary, address, &self->loop))
		self->loop = (struct code_range){ 0 };
}
