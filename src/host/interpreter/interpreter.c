/*
 * Opens the interpreter of a process, and caches its functions with the locations in them; reads
 * memory, stops nothing.
 */
#include "host/interpreter/kind.h"

#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/interpreter/locations.h"
#include "host/process/memory.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#define KNOWN_MAX  65536u     /* cached functions and spots: then the cache is emptied */
#define CHECK_NS   250000000u /* one is read again so often: another may be there */
#define RETRY_NS   20000000u  /* where there was none */
#define LOOP_TRIES 64u
#define BYTES_MAX  (64u << 20) /* of the cache */
#define AT_MASK    ((1ull << INTERPRETED_MARK_SHIFT) - 1)

static const struct interpreter_kind *const kinds[] = {
#define KIND(name) &interpreter_##name,
#include "host/interpreter/kinds.def"
#undef KIND
	NULL,
};

struct known_location {
	uint64_t at, number;
};

struct known {
	uint64_t code, checked_ns;
	bool is_hidden;
	struct function function;         /* no name: it is none */
	struct known_location *locations; /* in it; ascending */
	size_t count, room;
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

static int open_kind(const struct interpreter_kind *kind, const struct space *space, pid_t pid,
		     struct interpreter **ret, struct err *err)
{
	struct interpreter *self = calloc(1, kind->size);
	char byte;
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "%s of %d: no memory", kind->title, pid);
	self->kind = kind;
	self->pid = pid;
	self->memory = (struct target_memory){ read_process, self };
	snprintf(self->title, sizeof(self->title), "%s", kind->title);
	r = interpreter_find_binary(self, space);
	if (!r) {
		r = read_process(self, self->symbols[0].start, &byte, sizeof(byte));
		if (r)
			err_set(err, r, "its memory cannot be read: %s", strerror(-r));
		else
			r = kind->recognise(self, space, err);
	}
	if (r && r != -ENOENT && r != -EAGAIN)
		err_while(err, "no functions of %s, native frames only", self->title);
	if (r)
		interpreter_close(self);
	else
		*ret = self;
	return r;
}

int interpreter_open(struct interpreter **ret, const struct space *space, pid_t pid,
		     enum interpreter_reader reader, struct err *err)
{
	int r = -ENOENT;

	for (size_t i = 0; r == -ENOENT && kinds[i]; i++)
		if (reader == READER_KERNEL || kinds[i]->threads)
			r = open_kind(kinds[i], space, pid, ret, err);
	return r;
}

static void known_free(void *item)
{
	struct known *known = item;

	function_done(&known->function);
	free(known->locations);
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
	if (interpreter->kind->close)
		interpreter->kind->close(interpreter);
	interpreter_forget(interpreter);
	free(interpreter);
}

const char *interpreter_title(const struct interpreter *interpreter)
{
	return interpreter->kind->title;
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

static size_t size_of(const struct function *function)
{
	return (function->name ? strlen(function->name) : 0) +
	       (function->file ? strlen(function->file) : 0) +
	       function->line_count * sizeof(*function->lines) + function->table_size;
}

/* Reads it (again); drops what was cached at this address if it is another function now. */
static void known_read(struct interpreter *self, bool is_spot, struct known *known)
{
	struct function function = { 0 };
	char byte;
	int r = is_spot ? self->kind->read_spot(self, known->code, &function)
			: self->kind->read(self, known->code, &function);

	known->checked_ns = now_ns();
	/* An ended process cannot be read any more: its cache stays. */
	if (r && r != -ENOENT && target_read(&self->memory, self->symbols[0].start, &byte, 1))
		return;
	if (!function_equals(&function, &known->function))
		known->count = 0;
	self->known_bytes -= size_of(&known->function);
	function_done(&known->function);
	known->is_hidden = r == -ENOENT;
	known->function = function;
	self->known_bytes += size_of(&known->function);
}

/* NULL: no memory. */
static struct known *find_known(struct interpreter *self, bool is_spot, uint64_t code)
{
	void **tree = is_spot ? &self->spots : &self->functions;
	struct known key = { .code = code }, *known;
	struct known **found = tfind(&key, tree, address_compare);

	uint64_t pause_ns;

	known = found ? *found : calloc(1, sizeof(*known));
	if (known && !found) {
		known->code = code;
		if (!tsearch(known, tree, address_compare)) {
			known_free(known);
			return NULL;
		}
		self->known_count++;
	}
	if (!known)
		return NULL;
	/* Servers make the same code at the same address for each request: code that is gone may
	 * return. */
	pause_ns = known->is_hidden || known->function.file ? CHECK_NS : RETRY_NS;
	if (now_ns() - known->checked_ns >= pause_ns)
		known_read(self, is_spot, known);
	return known;
}

static uint64_t instruction_at(const void *locations, size_t index)
{
	return ((const struct known_location *)locations)[index].at;
}

static uint64_t location_of(struct interpreter *self, struct known *known, uint64_t at)
{
	const struct interpreter_kind *kind = self->kind;
	const struct function *function = &known->function;
	const struct known *spot;
	const char *file;
	uint64_t number;
	char gone[64];
	unsigned line;
	size_t i;

	if (!function->name) {
		snprintf(gone, sizeof(gone), "[%s code that is gone]", kind->language);
		return language_location_make(kind->language, gone, "", 0);
	}
	if (kind->read_spot) {
		spot = find_known(self, /* is_spot */ true, at);
		file = spot && spot->function.file ? spot->function.file : function->file;
		return language_location_make(kind->language, function->name, file,
					      spot ? spot->function.first_line : 0);
	}
	if (find_sorted(known->locations, known->count, at, instruction_at, &i))
		return known->locations[i].number;
	line = function->is_native ? 0 : kind->line(self, function, at);
	if (!line && !function->is_native)
		line = function->first_line;
	number = language_location_make(kind->language, function->name, function->file, line);
	if (!number || insert_room(&known->locations, &known->count, &known->room,
				   sizeof(*known->locations), i))
		return number;
	known->locations[i] = (struct known_location){ at, number };
	self->known_bytes += sizeof(*known->locations);
	return number;
}

static void find_loop(struct interpreter *self, uint64_t code)
{
	uint64_t address;

	if (!self->kind->find_loop || self->loop[0].end || self->loop_tries >= LOOP_TRIES)
		return;
	self->loop_tries++;
	address = self->kind->find_loop(self, code);
	if (address)
		interpreter_set_loop(self, address);
}

enum frame_role interpreter_resolve(struct interpreter *self, const struct interpreted_frame *frame,
				    uint64_t *ret_location)
{
	enum frame_role role = frame->at > AT_MASK ? FRAME_ENTRY : FRAME_CALLED;
	struct known *known;

	*ret_location = 0;
	if (self->kind->role)
		role = self->kind->role(self, frame);
	if (role == FRAME_SHIM)
		return role;
	if (self->known_count >= KNOWN_MAX || self->known_bytes >= BYTES_MAX)
		interpreter_forget(self);
	known = find_known(self, /* is_spot */ false, frame->code);
	if (!known || known->is_hidden)
		return FRAME_HIDDEN;
	*ret_location = location_of(self, known, frame->at & AT_MASK);
	if (known->function.is_native)
		return FRAME_CALLED;
	if (known->function.name)
		find_loop(self, frame->code);
	return role;
}

uint64_t interpreter_location(struct interpreter *interpreter,
			      const struct interpreted_frame *frame)
{
	uint64_t location;

	(void)!interpreter_resolve(interpreter, frame, &location);
	return location;
}

const char *interpreter_title_in(const struct space *space, bool is_read_outside)
{
	for (size_t i = 0; i < space->count; i++)
		for (size_t k = 0; kinds[k]; k++)
			if (!kinds[k]->threads != is_read_outside &&
			    space->ranges[i].module->kind == MODULE_FILE &&
			    interpreter_kind_has_name(kinds[k], space->ranges[i].module->path))
				return kinds[k]->title;
	return NULL;
}

bool interpreter_uses_file(const char *path)
{
	for (size_t i = 0; kinds[i]; i++) {
		const struct interpreter_threads *threads = kinds[i]->threads;

		if (threads &&
		    (interpreter_kind_has_name(kinds[i], path) || threads->needs_file(path)))
			return true;
	}
	return false;
}

const struct interpreter_threads *interpreter_threads(const struct interpreter *interpreter)
{
	return interpreter->kind->threads;
}
