/*
 * Finds interpreters in the files of an address space.  The files are foreign bytes.
 */
#include "host/interpreter/kind.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"

#include <ctype.h>
#include <errno.h>
#include <gelf.h>

bool interpreter_kind_has_name(const struct interpreter_kind *kind, const char *path)
{
	const char *name = path_base_name(path);

	for (unsigned i = 0; i < INTERPRETER_NAMES_MAX; i++) {
		size_t length = strlen(kind->names[i]);

		if (!strncmp(name, kind->names[i], length) && !isalpha((unsigned char)name[length]))
			return true;
	}
	return false;
}

/* Addresses of the file. */
static int take_symbol(Elf *elf, const GElf_Sym *symbol, const char *name, void *context)
{
	struct interpreter *self = context;

	(void)elf;
	if (!name || symbol->st_shndx == SHN_UNDEF || !symbol->st_value)
		return 0;
	for (unsigned i = 0; i < INTERPRETER_SYMBOLS_MAX && self->kind->symbols[i]; i++)
		if (!strcmp(name, self->kind->symbols[i]))
			self->symbols[i] =
				(struct code_range){ symbol->st_value,
						     symbol->st_value + symbol->st_size };
	return 0;
}

static int open_file(const struct interpreter *self, struct elf_source *ret)
{
	return self->module->image_path
		       ? elf_source_open_again(ret, self->module->image_path, self->module->path)
		       : -ENOENT;
}

static struct code_range range_move(struct code_range range, uint64_t bias)
{
	return (struct code_range){ range.start + bias, range.end + bias };
}

int interpreter_find_binary(struct interpreter *self, const struct space *space)
{
	for (size_t i = 0; i < space->count; i++) {
		CLEANUP(elf_source_close) struct elf_source source = { 0 };
		const struct space_range *range = &space->ranges[i];

		if (range->module == self->module || range->module->kind != MODULE_FILE ||
		    !interpreter_kind_has_name(self->kind, range->module->path))
			continue;
		self->module = range->module;
		self->bias = range->bias;
		memset(self->symbols, 0, sizeof(self->symbols));
		if (!open_file(self, &source))
			(void)elf_symbols_each(source.elf, take_symbol, self);
		for (unsigned k = 0; k < INTERPRETER_SYMBOLS_MAX; k++)
			if (self->symbols[k].start)
				self->symbols[k] = range_move(self->symbols[k], self->bias);
		if (self->symbols[0].start)
			return 0;
	}
	return -ENOENT;
}

/* Where functions of its file begin; empty if that is not known. */
static void read_starts(const struct interpreter *self, struct symbol_table *ret)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };

	if (open_file(self, &source) || elf_starts_add(source.elf, ret))
		symbol_table_done(ret);
	else
		symbol_table_finish(ret);
}

void interpreter_set_loop(struct interpreter *self, uint64_t address)
{
	struct symbol_table starts = { 0 };
	const struct symbol *symbol;

	read_starts(self, &starts);
	symbol = symbol_table_find(&starts, address - self->bias);
	if (symbol)
		self->loop[0] =
			range_move((struct code_range){ symbol->address, symbol->end }, self->bias);
	symbol_table_done(&starts);
}

bool interpreter_find_largest(const struct interpreter *self, struct code_range *ret)
{
	struct symbol_table starts = { 0 };
	uint64_t largest = 0;

	read_starts(self, &starts);
	for (size_t i = 0; i < starts.count; i++) {
		const struct symbol *symbol = &starts.items[i];

		if (symbol->end - symbol->address <= largest)
			continue;
		largest = symbol->end - symbol->address;
		*ret = range_move((struct code_range){ symbol->address, symbol->end }, self->bias);
	}
	symbol_table_done(&starts);
	return largest;
}

bool interpreter_find_segment(const struct interpreter *self, unsigned rights,
			      struct code_range *ret)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };
	size_t count = 0;
	GElf_Phdr head;

	if (open_file(self, &source) || elf_getphdrnum(source.elf, &count))
		return false;
	for (size_t i = 0; i < MIN(count, (size_t)INT32_MAX); i++)
		if (gelf_getphdr(source.elf, (int)i, &head) && head.p_type == PT_LOAD &&
		    head.p_flags & rights) {
			*ret = range_move(
				(struct code_range){ head.p_vaddr, head.p_vaddr + head.p_memsz },
				self->bias);
			return true;
		}
	return false;
}
