/*
 * Which names belong to which code.
 */
#include "host/symbols/symbolizer.h"

#include "host/core/demangle.h"
#include "host/core/pool.h"
#include "host/core/room.h"
#include "host/symbols/text_symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READABLE_MAX 4096u

struct code_module {
	enum code_kind kind;
	pid_t pid;
	const char *name;         /* without its folder */
	struct symbol_file *file; /* of CODE_FILE and CODE_VDSO */
	struct text_symbols jit;  /* of CODE_JIT */
	char jit_path[64];
};

struct symbolizer {
	struct code_module *modules;
	size_t count, room;
	struct text_symbols kernel;
	bool is_kernel_read;
	struct pool texts;
};

struct symbolizer *symbolizer_new(void)
{
	return calloc(1, sizeof(struct symbolizer));
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->count; i++) {
		symbol_file_free(symbolizer->modules[i].file);
		text_symbols_done(&symbolizer->modules[i].jit);
	}
	free(symbolizer->modules);
	text_symbols_done(&symbolizer->kernel);
	pool_done(&symbolizer->texts);
	free(symbolizer);
}

static const char *const fixed_names[CODE_KINDS] = {
	[CODE_UNKNOWN] = "[unknown]",
	[CODE_VDSO] = "[vdso]",
	[CODE_JIT] = "[jit]",
	[CODE_KERNEL] = "[kernel]",
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool open_module(struct symbolizer *self, struct code_module *module,
			const struct symbol_place *place)
{
	module->name = fixed_names[module->kind];
	if (module->kind == CODE_FILE) {
		module->name = pool_keep(&self->texts, base_name(place->path));
		module->file = symbol_file_new(place);
	} else if (module->kind == CODE_VDSO) {
		module->file = symbol_file_vdso();
	} else if (module->kind == CODE_JIT) {
		perf_map_path(place->pid, module->jit_path, sizeof(module->jit_path));
		(void)!text_symbols_read(&module->jit, module->jit_path, perf_map_line);
	}
	return module->name &&
	       (module->file || (module->kind != CODE_FILE && module->kind != CODE_VDSO));
}

int symbolizer_module(struct symbolizer *self, enum code_kind kind,
		      const struct symbol_place *place)
{
	struct code_module module = { .kind = kind, .pid = place->pid };

	if (self->count >= INT_MAX ||
	    make_room(&self->modules, self->count, &self->room, sizeof(*self->modules)) ||
	    !open_module(self, &module, place))
		return -ENOMEM;
	self->modules[self->count] = module;
	return (int)self->count++;
}

/* A map that is gone has told what it had to. */
void symbolizer_follow(struct symbolizer *self)
{
	for (size_t i = 0; i < self->count; i++)
		if (self->modules[i].kind == CODE_JIT)
			(void)!text_symbols_read(&self->modules[i].jit, self->modules[i].jit_path,
						 perf_map_line);
}

static const char *readable(struct symbolizer *self, const char *name)
{
	char text[READABLE_MAX];

	return pool_keep(&self->texts, demangle(name, text, sizeof(text)) ? text : name);
}

/* The mangled name at an address, "" where only the begin of the function is known. */
static bool look_up(struct symbolizer *self, struct code_module *module, uint64_t address,
		    const char **ret_name, uint64_t *ret_start)
{
	const struct symbol *symbol = NULL;

	if (module->file)
		return symbol_file_find(module->file, address, ret_name, ret_start);
	if (module->kind == CODE_KERNEL && !self->is_kernel_read) {
		self->is_kernel_read = true;
		(void)!text_symbols_read(&self->kernel, "/proc/kallsyms", kallsyms_line);
	}
	if (module->kind == CODE_JIT)
		symbol = symbol_table_find(&module->jit.table, address);
	else if (module->kind == CODE_KERNEL)
		symbol = symbol_table_find(&self->kernel.table, address);
	if (!symbol)
		return false;
	*ret_name = symbol->name;
	*ret_start = symbol->address;
	return true;
}

static const char *nameless(struct symbolizer *self, const struct code_module *module,
			    uint64_t address)
{
	char text[NAME_MAX + 32];

	snprintf(text, sizeof(text), "%s+0x%" PRIx64, module->name, address);
	return pool_keep(&self->texts, text);
}

/* Lines know inlined functions; the outermost is called as the table of symbols calls it. */
static void add_lines(struct symbolizer *self, struct code_module *module, uint64_t address,
		      struct code_names *ret)
{
	struct source_place places[CODE_NAMES_MAX];
	size_t count = symbol_file_lines(module->file, address, places, CODE_NAMES_MAX);
	const char *outermost = ret->items[0].function;

	for (size_t i = 0; i < count; i++) {
		const char *file = pool_keep(&self->texts, places[i].file ? places[i].file : "");
		const char *function =
			places[i].function ? readable(self, places[i].function) : outermost;

		if (i == count - 1 && ret->is_named)
			function = outermost;
		ret->items[i] = (struct code_name){ function, file, places[i].line };
	}
	ret->count = MAX(count, (size_t)1);
	ret->is_named |= count > 0 && places[count - 1].function;
}

static bool has_all_texts(const struct code_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (!names->items[i].function || !names->items[i].file)
			return false;
	return true;
}

int symbolizer_find(struct symbolizer *self, unsigned number, uint64_t address, bool wants_lines,
		    struct code_names *ret)
{
	struct code_module *module = &self->modules[number];
	uint64_t start = address;
	const char *name = "";

	ret->is_named = look_up(self, module, address, &name, &start) && name[0];
	ret->count = 1;
	ret->items[0] = (struct code_name){ ret->is_named ? readable(self, name)
							  : nameless(self, module, start),
					    "", 0 };
	if (wants_lines && module->file)
		add_lines(self, module, address, ret);
	return has_all_texts(ret) ? 0 : -ENOMEM;
}
