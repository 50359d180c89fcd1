/*
 * Modules of samples.  A file is one module for all processes; code that a runtime compiled, and
 * addresses in no known code, belong to their process.
 */
#include "host/recorder/base/code_list.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/table.h"
#include "host/interpreter/locations.h"
#include "host/symbols/symbolizer.h"
#include "host/unwind/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames of Python and other languages count as compiled code, one module for each of their source
 * files.  Their addresses are numbers of locations. */
#define PYTHON_KEY ((uint64_t)CODE_KINDS << 32)

struct code_list {
	struct symbolizer *symbolizer; /* its modules have this list's numbers */
	struct recorded_code *codes;
	size_t count, room, written, forgotten;
	struct table numbers;     /* of files and the kernel: (kind and process, module) */
	struct table own_numbers; /* the same of what belongs to a process */
	uint64_t time_ns;         /* of the sample whose frames are resolved */
	/* The runtime of the last address resolved: finding it takes a search through all
	 * mappings. */
	struct {
		pid_t pid;
		unsigned generation;
		uint64_t start;
		const struct engine *engine;
	} last;
};

struct code_list *code_list_new(void)
{
	struct code_list *self = calloc(1, sizeof(*self));

	if (self) {
		self->symbolizer = symbolizer_new();
		self->time_ns = UINT64_MAX;
	}
	if (self && self->symbolizer)
		return self;
	code_list_free(self);
	return NULL;
}

void code_list_free(struct code_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		free((char *)(uintptr_t)list->codes[i].path);
	free(list->codes);
	table_done(&list->numbers);
	table_done(&list->own_numbers);
	symbolizer_free(list->symbolizer);
	free(list);
}

static const char *const fixed_paths[CODE_KINDS] = {
	[CODE_UNKNOWN] = "[unknown]",
	[CODE_VDSO] = "[vdso]",
	[CODE_KERNEL] = "[kernel]",
};

/* The owner of code. */
struct owner {
	uint32_t process;
	pid_t pid;
	const struct module *module;              /* of files and the vdso */
	const struct engine *engine;              /* of CODE_JIT */
	const struct language_location *location; /* of a frame of Python */
};

static char *owner_path(const struct owner *owner, enum code_kind kind)
{
	const struct language_location *location = owner->location;
	const char *path = owner->engine ? owner->engine->path : fixed_paths[kind];
	char *text;

	if (location)
		return asprintf(&text, "[%s]%s%s", location->language, location->file[0] ? " " : "",
				location->file) < 0
			       ? NULL
			       : text;
	return strdup(path ? path : owner->module ? owner->module->path : "");
}

static int add_code(struct code_list *self, enum code_kind kind, const struct owner *owner)
{
	const struct module *module = owner->module;
	struct recorded_code code = { .kind = kind, .process = owner->process };
	struct symbol_origin origin = { .pid = owner->pid };

	if (make_room(&self->codes, self->count, &self->room, sizeof(*self->codes)))
		return -ENOMEM;
	origin.path = code.path = owner_path(owner, kind);
	if (!code.path)
		return -ENOMEM;
	if (module) {
		code.build_id_size = MIN(module->build_id_size, BUILD_ID_MAX);
		memcpy(code.build_id, module->build_id, code.build_id_size);
		origin.image_path = module->image_path;
	}
	origin.build_id = code.build_id;
	origin.build_id_size = code.build_id_size;
	if (symbolizer_module(self->symbolizer, owner->location ? CODE_UNKNOWN : kind, &origin) <
	    0) {
		free((char *)(uintptr_t)code.path);
		return -ENOMEM;
	}
	self->codes[self->count++] = code;
	return 0;
}

/* Addresses identify an engine, and the interned texts of a location. */
static int find_code(struct code_list *self, enum code_kind kind, const struct owner *owner,
		     uint32_t *ret)
{
	struct table *numbers =
		owner->process == PROCESS_NONE ? &self->numbers : &self->own_numbers;
	uint64_t group = (uint64_t)kind << 32 | owner->process, number = 0;
	struct table_entry *entry;
	bool is_new;

	if (owner->location) {
		group = PYTHON_KEY | owner->location->language_number;
		number = (uintptr_t)owner->location->file;
	} else if (owner->engine) {
		number = (uintptr_t)owner->engine;
	} else if (owner->module && owner->process == PROCESS_NONE) {
		number = (uint64_t)owner->module->number + 1;
	}
	entry = table_make(numbers, group, number, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->count;
		if (add_code(self, kind, owner)) {
			table_remove(numbers, entry);
			return -ENOMEM;
		}
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

static int find_python(struct code_list *self, uint64_t number, struct recorded_frame *ret)
{
	struct language_location location = { "", "", 0, "", 0 };
	const struct owner owner = { .process = PROCESS_NONE, .location = &location };

	language_location_find(number, &location);
	*ret = (struct recorded_frame){ .address = number ^ LANGUAGE_LOCATIONS };
	return find_code(self, CODE_JIT, &owner, &ret->code);
}

/* Memory files and the like hold code that a runtime has compiled. */
static enum code_kind kind_of(const struct space_range *range)
{
	const struct module *module = range ? range->module : NULL;

	if (!module)
		return CODE_UNKNOWN;
	if (module->kind == MODULE_VDSO)
		return CODE_VDSO;
	return module->kind == MODULE_ANONYMOUS || strncmp(module->path, "/memfd:", 7) == 0 ||
			       strncmp(module->path, "/dev/zero", 9) == 0 ||
			       engine_has_image(module)
		       ? CODE_JIT
		       : CODE_FILE;
}

void code_list_at(struct code_list *list, uint64_t time_ns)
{
	list->time_ns = time_ns;
}

static const struct engine *find_engine(struct code_list *self, const struct space *space,
					const struct space_range *range)
{
	if (self->last.pid != space->pid || self->last.generation != space->generation ||
	    self->last.start != range->start || !self->last.engine) {
		self->last.pid = space->pid;
		self->last.generation = space->generation;
		self->last.start = range->start;
		self->last.engine = engine_of(space, range);
	}
	return self->last.engine;
}

int code_list_find(struct code_list *self, const struct space *space, uint32_t process,
		   uint64_t address, bool is_return, struct recorded_frame *ret)
{
	/* A call may be the last instruction of its mapping. */
	const struct space_range *range = space_find(space, address - is_return);
	enum code_kind kind = kind_of(range);
	bool is_own = kind == CODE_UNKNOWN || kind == CODE_JIT;
	struct owner owner = {
		.process = is_own ? process : PROCESS_NONE,
		.pid = space->pid,
		.module = is_own ? NULL : range->module,
	};
	int r;

	if (is_language_location(address))
		return find_python(self, address, ret);
	*ret = (struct recorded_frame){ .is_return = is_return,
					.address = is_own ? address : address - range->bias };
	if (kind == CODE_JIT)
		owner.engine = find_engine(self, space, range);
	r = find_code(self, kind, &owner, &ret->code);
	if (!r && kind == CODE_JIT)
		ret->version = symbolizer_version(self->symbolizer, ret->code, address - is_return,
						  self->time_ns);
	return r;
}

int code_list_kernel(struct code_list *self, uint64_t address, bool is_return,
		     struct recorded_frame *ret)
{
	const struct owner kernel = { .process = PROCESS_NONE };

	*ret = (struct recorded_frame){ .is_return = is_return, .address = address };
	return find_code(self, CODE_KERNEL, &kernel, &ret->code);
}

/* A return that ends a signal handler does not count: no function has called from there. */
bool code_is_return(const struct space *space, const uint64_t *frames, size_t i)
{
	const struct space_range *range;
	const struct unwind_table *table;

	if (!i || is_language_location(frames[i]))
		return false;
	range = space_find(space, frames[i]);
	table = range ? range->module->table : NULL;
	return !table || (unwind_table_find(table, frames[i] - range->bias)->kind &
			  UNWIND_KIND_MASK) != UNWIND_SIGNAL;
}

int code_list_frames(struct code_list *list, const struct space *space, uint32_t process,
		     const struct sample *sample, struct recorded_frame *ret)
{
	const uint64_t *user = (const uint64_t *)sample->frames + sample->kernel_count;
	int r = 0;

	for (size_t i = 0; !r && i < sample->kernel_count; i++)
		r = code_list_kernel(list, sample->frames[i], i > 0, ret++);
	for (size_t i = 0; !r && i < sample->user_count; i++)
		r = code_list_find(list, space, process, user[i], code_is_return(space, user, i),
				   ret++);
	return r;
}

size_t code_list_count(const struct code_list *list)
{
	return list->count;
}

size_t code_list_texts(const struct code_list *list)
{
	return symbolizer_texts(list->symbolizer);
}

bool code_list_is_python(const struct code_list *list, const struct recorded_frame *frame)
{
	const struct recorded_code *code = &list->codes[frame->code];

	return code->kind == CODE_JIT && code->process == PROCESS_NONE;
}

bool code_is_lasting(const struct code_list *list, const struct recorded_frame *frame)
{
	return list->codes[frame->code].kind != CODE_JIT || code_list_is_python(list, frame);
}

const struct recorded_code *code_list_code(const struct code_list *list, uint32_t number)
{
	return &list->codes[number];
}

int code_list_write(struct code_list *self, struct recording *recording, struct err *err)
{
	static const char head[NUMBERED_HEAD_BYTES];
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	int r;

	if (self->written == self->count)
		return 0;
	bytes_put(&bytes, head, sizeof(head));
	for (size_t i = self->written; i < self->count; i++)
		item_put(&bytes, CHUNK_CODE, &self->codes[i]);
	numbered_set(&bytes, &(struct numbered_head){ (uint32_t)self->written,
						      (uint32_t)(self->count - self->written) });
	r = recording_samples(recording, CHUNK_CODE, &bytes, err);
	self->written = self->count;
	return r;
}

void code_list_follow(struct code_list *list)
{
	symbolizer_follow(list->symbolizer);
}

void code_list_read(struct code_list *list)
{
	symbolizer_read(list->symbolizer);
}

void code_list_forget_processes(struct code_list *list)
{
	for (; list->forgotten < list->count; list->forgotten++)
		symbolizer_forget(list->symbolizer, (unsigned)list->forgotten);
	table_done(&list->own_numbers);
	list->last.engine = NULL;
}

int code_list_name(struct code_list *list, const struct recorded_frame *frame, bool wants_lines,
		   struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count,
		   bool *ret_is_named)
{
	struct code_names names;
	struct code_location location = { frame->address - frame->is_return, frame->version };
	struct language_location line;
	int r;

	if (code_list_is_python(list, frame) &&
	    language_location_find(frame->address ^ LANGUAGE_LOCATIONS, &line)) {
		*ret = (struct recorded_name){ line.function, line.file, line.line };
		*ret_count = 1;
		*ret_is_named = true;
		return 0;
	}
	r = symbolizer_find_version(list->symbolizer, frame->code, &location, wants_lines, &names);
	if (r)
		return r;
	for (size_t i = 0; i < names.count; i++)
		ret[i] = (struct recorded_name){ names.items[i].function, names.items[i].file,
						 names.items[i].line };
	*ret_count = (uint32_t)names.count;
	*ret_is_named = names.is_named;
	return 0;
}
