/*
 * Which names belong to which code.
 */
#include "host/symbols/symbolizer.h"

#include "host/core/pool.h"
#include "host/core/room.h"
#include "host/core/text/path.h"
#include "host/symbols/demangle/demangle.h"
#include "host/symbols/jit/jitdump.h"
#include "host/symbols/jit/perf_map.h"
#include "host/symbols/kernel_symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READABLE_MAX 4096u

/* A sampler of all processes opens ever more files: the least recently used ones are closed, and
 * open again when needed.  A larger one stays alone. */
#define FILES_OPEN_MAX 128u
#define FILE_BYTES_MAX ((size_t)96 << 20)

struct code_module {
	enum code_kind kind;
	pid_t pid;
	const char *name;         /* without its folder */
	struct symbol_file *file; /* of CODE_FILE and CODE_VDSO */
	uint64_t used;            /* the last use for a name; a counter */
	size_t bytes;             /* of the file, as they were added up */
	bool is_counted;          /* the file is open, and counted as such */
	/* Of CODE_JIT. */
	struct jit_names jit;
	struct perf_map perf_map;
	struct jitdump jitdump;
};

struct symbolizer {
	struct code_module *modules;
	size_t count, room;
	size_t open_files, file_bytes;
	uint64_t uses;
	struct kernel_symbols kernel;
	bool is_kernel_read;
	struct pool texts;
};

struct symbolizer *symbolizer_new(void)
{
	return calloc(1, sizeof(struct symbolizer));
}

static void module_forget(struct code_module *module)
{
	jit_names_done(&module->jit);
	perf_map_close(&module->perf_map);
	jitdump_close(&module->jitdump);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->count; i++) {
		symbol_file_free(symbolizer->modules[i].file);
		module_forget(&symbolizer->modules[i]);
	}
	free(symbolizer->modules);
	kernel_symbols_done(&symbolizer->kernel);
	pool_done(&symbolizer->texts);
	free(symbolizer);
}

size_t symbolizer_texts(const struct symbolizer *symbolizer)
{
	return symbolizer->texts.count;
}

static const char *const fixed_names[CODE_KINDS] = {
	[CODE_UNKNOWN] = "[unknown]",
	[CODE_VDSO] = "[vdso]",
	[CODE_KERNEL] = "[kernel]",
};

/* Files that are missing or that another user owns add no names. */
static void module_follow_perf_map(struct code_module *module)
{
	(void)!perf_map_follow(&module->perf_map, module->pid, &module->jit);
	(void)!jitdump_follow(&module->jitdump, module->pid, &module->jit);
}

static bool open_module(struct symbolizer *self, struct code_module *module,
			const struct symbol_origin *origin)
{
	module->name = fixed_names[module->kind];
	if (module->kind == CODE_FILE) {
		module->name = pool_keep(&self->texts, path_base_name(origin->path));
		module->file = symbol_file_new(origin);
	} else if (module->kind == CODE_VDSO) {
		module->file = symbol_file_vdso();
	} else if (module->kind == CODE_JIT) {
		module->name = pool_keep(&self->texts, origin->path);
		module_follow_perf_map(module);
	}
	return module->name &&
	       (module->file || (module->kind != CODE_FILE && module->kind != CODE_VDSO));
}

static void file_uncount(struct symbolizer *self, struct code_module *module)
{
	self->open_files -= module->is_counted;
	self->file_bytes -= module->bytes;
	module->is_counted = false;
	module->bytes = 0;
}

static struct code_module *oldest_file(struct symbolizer *self, const struct code_module *but)
{
	struct code_module *oldest = NULL;

	for (size_t i = 0; i < self->count; i++) {
		struct code_module *module = &self->modules[i];

		if (module != but && module->is_counted && (!oldest || module->used < oldest->used))
			oldest = module;
	}
	return oldest;
}

/* After a file was opened or read: others make room for it. */
static void file_count(struct symbolizer *self, struct code_module *module)
{
	struct code_module *oldest;

	file_uncount(self, module);
	module->used = ++self->uses;
	module->is_counted = module->kind == CODE_FILE && symbol_file_is_open(module->file);
	module->bytes = module->is_counted ? symbol_file_bytes(module->file) : 0;
	self->open_files += module->is_counted;
	self->file_bytes += module->bytes;
	while ((self->open_files > FILES_OPEN_MAX || self->file_bytes > FILE_BYTES_MAX) &&
	       (oldest = oldest_file(self, module))) {
		symbol_file_close(oldest->file);
		file_uncount(self, oldest);
	}
}

int symbolizer_module(struct symbolizer *self, enum code_kind kind,
		      const struct symbol_origin *origin)
{
	struct code_module module = { .kind = kind, .pid = origin->pid };

	if (self->count >= INT_MAX ||
	    make_room(&self->modules, self->count, &self->room, sizeof(*self->modules)) ||
	    !open_module(self, &module, origin))
		return -ENOMEM;
	self->modules[self->count++] = module;
	if (module.file)
		file_count(self, &self->modules[self->count - 1]);
	return (int)self->count - 1;
}

void symbolizer_follow(struct symbolizer *self)
{
	for (size_t i = 0; i < self->count; i++)
		if (self->modules[i].kind == CODE_JIT)
			module_follow_perf_map(&self->modules[i]);
}

void symbolizer_forget(struct symbolizer *self, unsigned number)
{
	module_forget(&self->modules[number]);
}

void symbolizer_read(struct symbolizer *self)
{
	for (size_t i = 0; i < self->count; i++) {
		struct code_module *module = &self->modules[i];

		(void)!perf_map_read(&module->perf_map, &module->jit);
		(void)!jitdump_read(&module->jitdump, &module->jit);
	}
}

static const char *name_readable(struct symbolizer *self, const char *name)
{
	char text[READABLE_MAX], cut[READABLE_MAX];

	if (strnlen(name, sizeof(cut)) == sizeof(cut)) {
		snprintf(cut, sizeof(cut), "%.*s", (int)sizeof(cut) - 1, name);
		name = cut;
	}
	return pool_keep(&self->texts, demangle(name, text, sizeof(text)) ? text : name);
}

/* The mangled name at an address, "" where only the begin of the function is known. */
static bool find_name(struct symbolizer *self, struct code_module *module,
		      const struct code_location *location, const char **ret_name,
		      uint64_t *ret_start)
{
	uint64_t address = location->address;
	const struct symbol *symbol = NULL;
	const struct jit_name *made;

	if (module->file)
		return symbol_file_find(module->file, address, ret_name, ret_start);
	if (module->kind == CODE_JIT) {
		made = jit_names_find(&module->jit, address, location->version);
		if (!made)
			return false;
		*ret_name = jit_name_text(&module->jit, made);
		*ret_start = made->start;
		return true;
	}
	if (module->kind == CODE_KERNEL && !self->is_kernel_read) {
		self->is_kernel_read = true;
		kernel_symbols_read(&self->kernel);
	}
	if (module->kind == CODE_KERNEL)
		symbol = symbol_table_find(&self->kernel.table, address);
	if (!symbol)
		return false;
	*ret_name = symbol->name;
	*ret_start = symbol->address;
	return true;
}

/* Generated code without names: one frame for all its addresses, which mean nothing to a reader. */
static const char *address_nameless(struct symbolizer *self, const struct code_module *module,
				    uint64_t address)
{
	char text[NAME_MAX + 32];

	if (module->kind == CODE_JIT)
		return module->name;

	snprintf(text, sizeof(text), "%s+0x%" PRIx64, module->name, address);
	return pool_keep(&self->texts, text);
}

/* Lines have inlined functions; the outermost gets its name from the table of symbols. */
static void add_lines(struct symbolizer *self, struct code_module *module, uint64_t address,
		      struct code_names *ret)
{
	struct source_location locations[CODE_NAMES_MAX];
	size_t count = symbol_file_lines(module->file, address, locations, CODE_NAMES_MAX);
	const char *outermost = ret->items[0].function;

	for (size_t i = 0; i < count; i++) {
		const char *file =
			pool_keep(&self->texts, locations[i].file ? locations[i].file : "");
		const char *function = locations[i].function
					       ? name_readable(self, locations[i].function)
					       : outermost;

		if (i == count - 1 && ret->is_named)
			function = outermost;
		ret->items[i] = (struct code_name){ function, file, locations[i].line };
	}
	ret->count = MAX(count, (size_t)1);
	ret->is_named |= count > 0 && locations[count - 1].function;
}

static bool has_all_texts(const struct code_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (!names->items[i].function || !names->items[i].file)
			return false;
	return true;
}

uint32_t symbolizer_version(const struct symbolizer *self, unsigned number, uint64_t address,
			    uint64_t time_ns)
{
	const struct code_module *module = &self->modules[number];

	return module->kind == CODE_JIT ? jit_names_version(&module->jit, address, time_ns) : 0;
}

int symbolizer_find_version(struct symbolizer *self, unsigned number,
			    const struct code_location *location, bool wants_lines,
			    struct code_names *ret)
{
	struct code_module *module = &self->modules[number];
	uint64_t address = location->address, start = address;
	const char *name = "";

	ret->is_named = find_name(self, module, location, &name, &start) && name[0];
	ret->count = 1;
	ret->items[0] = (struct code_name){ ret->is_named ? name_readable(self, name)
							  : address_nameless(self, module, start),
					    "", 0 };
	if (wants_lines && module->file)
		add_lines(self, module, address, ret);
	if (module->file)
		file_count(self, module);
	return has_all_texts(ret) ? 0 : -ENOMEM;
}

int symbolizer_find(struct symbolizer *self, unsigned number, uint64_t address, bool wants_lines,
		    struct code_names *ret)
{
	return symbolizer_find_version(self, number, &(struct code_location){ .address = address },
				       wants_lines, ret);
}
