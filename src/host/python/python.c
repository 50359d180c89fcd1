/*
 * Opens the Python of a process, and caches its code objects; reads memory, stops nothing.
 */
#include "host/python/python_private.h"

#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/process/memory.h"
#include "host/python/locations.h"
#include "host/python/thread_number.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define CODES_MAX 65536u
#define BYTES_MAX (64u << 20) /* of cached code: then it is emptied */
#define CHECK_NS  250000000u  /* a code object is read again so often: another may be there */

struct known_location {
	uint64_t at, number;
};

struct known_code {
	struct python_code code;
	uint64_t checked_ns;
	struct known_location *locations; /* ascending */
	size_t count, room;
};

static int read_process(void *context, uint64_t address, void *into, size_t size)
{
	const struct python *python = context;
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = size ? memory_copy(python->pid, &local, 1, &remote, 1) : 0;

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

struct python_memory python_memory_of(const struct python *python)
{
	return (struct python_memory){ read_process, (void *)(uintptr_t)python };
}

/* Since 3.11 a variable has it, else the name of the file. */
static int find_version(struct python *self, struct err *err)
{
	uint32_t version = 0;
	int r = 0;

	if (self->binary.version)
		r = read_process(self, self->binary.version, &version, sizeof(version));
	if (r)
		return err_set(err, r, "its memory cannot be read: %s", strerror(-r));
	if (self->binary.version && version >> 24 == 3)
		self->binary.minor = version >> 16 & 255;
	return 0;
}

/* Before 3.11 the interpreter keeps only pthread_self().  -ENOENT: the program is still being
 * loaded, and will map its C library. */
static int find_thread_numbers(struct python *self, const struct space *space, struct err *err)
{
	struct python_memory memory = python_memory_of(self);
	unsigned offset = 0;
	int r = self->layout.native_thread_id ? 0 : thread_number_find(space, &memory, &offset);

	self->layout.walk.thread_number = (__u16)offset;
	if (!r || PYTHON_THREADS_BY_REGISTER)
		return 0;
	if (r == -ENOENT && !python_word(self, self->layout.walk.interpreters))
		return r;
	return err_set(err, -EOPNOTSUPP,
		       "its C library does not tell where a thread's number is "
		       "(_thread_db_pthread_tid)");
}

static int find_layout(struct python *self, const struct space *space, struct err *err)
{
	unsigned char runtime[PYTHON_OFFSETS_BYTES];
	int r = find_version(self, err);

	if (r)
		return r;
	r = read_process(self, self->binary.runtime, runtime, sizeof(runtime));
	if (r)
		return err_set(err, r, "its memory cannot be read: %s", strerror(-r));
	r = python_layout_find(self->binary.minor, runtime, sizeof(runtime), &self->layout, err);
	self->layout.walk.interpreters = self->binary.runtime + self->layout.interpreters;
	return r ? r : find_thread_numbers(self, space, err);
}

int python_open(struct python **ret, const struct space *space, pid_t pid, struct err *err)
{
	struct python *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "Python of %d: no memory", pid);
	self->pid = pid;
	r = python_binary_find(space, &self->binary);
	if (!r)
		r = find_layout(self, space, err);
	if (!r) {
		*ret = self;
		return 0;
	}
	if (r != -ENOENT)
		err_while(err, "no functions of Python 3.%u, native frames only",
			  self->binary.minor);
	python_close(self);
	return r;
}

static void known_free(void *item)
{
	struct known_code *known = item;

	python_code_done(&known->code);
	free(known->locations);
	free(known);
}

static void forget_codes(struct python *self)
{
	tdestroy(self->codes, known_free);
	self->codes = NULL;
	self->code_count = 0;
	self->bytes = 0;
}

void python_close(struct python *python)
{
	if (!python)
		return;
	forget_codes(python);
	free(python->threads);
	free(python);
}

bool python_knows_threads(const struct python *python)
{
	return python->layout.native_thread_id || python->layout.walk.thread_number;
}

const struct kernel_python *python_walk_layout(const struct python *python)
{
	return &python->layout.walk;
}

bool python_is_in(const struct space *space)
{
	for (size_t i = 0; i < space->count; i++)
		if (space->ranges[i].module->kind == MODULE_FILE &&
		    python_is_name(space->ranges[i].module->path))
			return true;
	return false;
}

static int python_compare(const void *a, const void *b)
{
	const struct known_code *left = a, *right = b;

	return left->code.address < right->code.address ? -1
							: left->code.address > right->code.address;
}

static size_t size_of(const struct python_code *code)
{
	return strlen(code->function) + strlen(code->file) + code->lines_size;
}

/* Reads it (again); drops what was cached at this address. */
static int read_code(struct python *self, struct known_code *known)
{
	struct python_memory memory = python_memory_of(self);
	struct python_code code;
	int r = python_code_read(&memory, &self->layout, self->binary.code_type,
				 known->code.address, &code);

	if (r)
		return r;
	if (known->code.function)
		self->bytes -= size_of(&known->code);
	if (!known->code.function || !python_code_equals(&known->code, &code))
		known->count = 0;
	python_code_done(&known->code);
	known->code = code;
	self->bytes += size_of(&code);
	return 0;
}

/* Nothing is known of it yet. */
static struct known_code *add_code(struct python *self, uint64_t address)
{
	struct known_code *known;

	if (self->code_count >= CODES_MAX)
		forget_codes(self);
	known = calloc(1, sizeof(*known));
	if (!known)
		return NULL;
	known->code.address = address;
	if (!tsearch(known, &self->codes, python_compare)) {
		known_free(known);
		return NULL;
	}
	self->code_count++;
	return known;
}

/* An ended process cannot be read any more: its cache stays. */
static bool is_readable(const struct python *self)
{
	char byte;

	return !read_process((void *)(uintptr_t)self, self->binary.runtime, &byte, 1);
}

/* An address without a valid code object is not read again at once. */
static void look_at_code(struct python *self, struct known_code *known)
{
	uint64_t address = known->code.address;

	known->checked_ns = now_ns();
	if (!read_code(self, known) || !known->code.function || !is_readable(self))
		return;
	self->bytes -= size_of(&known->code);
	python_code_done(&known->code);
	known->code.address = address;
	known->count = 0;
}

/* NULL: it is none. */
static struct known_code *find_code(struct python *self, uint64_t address)
{
	struct known_code key = { .code.address = address };
	struct known_code **found = tfind(&key, &self->codes, python_compare);
	struct known_code *known = found ? *found : add_code(self, address);

	if (!known)
		return NULL;
	if (now_ns() - known->checked_ns >= CHECK_NS)
		look_at_code(self, known);
	return known->code.function ? known : NULL;
}

static uint64_t instruction_at(const void *locations, size_t index)
{
	return ((const struct known_location *)locations)[index].at;
}

uint64_t python_location_of(struct python *self, const struct kernel_python_frame *frame)
{
	uint64_t at = frame->at & ((1ull << KERNEL_PYTHON_MARK_SHIFT) - 1), number;
	struct known_code *known;
	size_t i;

	if (self->bytes >= BYTES_MAX)
		forget_codes(self);
	known = find_code(self, frame->code);
	if (!known)
		return python_location_make(PYTHON_GONE, "", 0);
	i = count_below(known->locations, known->count, at, instruction_at);
	if (i < known->count && known->locations[i].at == at)
		return known->locations[i].number;
	number = python_location_make(known->code.function, known->code.file,
				      python_code_line(&known->code, &self->layout, at));
	if (!number ||
	    make_room(&known->locations, known->count, &known->room, sizeof(*known->locations)))
		return number;
	memmove(known->locations + i + 1, known->locations + i,
		(known->count - i) * sizeof(*known->locations));
	known->locations[i] = (struct known_location){ at, number };
	known->count++;
	self->bytes += sizeof(*known->locations);
	return number;
}
