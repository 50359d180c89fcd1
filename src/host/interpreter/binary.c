/*
 * Finds an interpreter in the files of an address space.  The files are foreign bytes.
 */
#include "host/interpreter/interpreter.h"
#include "host/interpreter/kind.h"

#include "host/core/cleanup.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"

#include <ctype.h>
#include <errno.h>
#include <gelf.h>

struct search {
	const struct interpreter_kind *kind;
	struct code_range *found; /* addresses of the file */
};

static int take_symbol(Elf *elf, const GElf_Sym *symbol, const char *name, void *context)
{
	struct search *search = context;

	(void)elf;
	if (!name || symbol->st_shndx == SHN_UNDEF || !symbol->st_value)
		return 0;
	for (unsigned i = 0; i < INTERPRETER_SYMBOLS_MAX && search->kind->symbols[i]; i++)
		if (!strcmp(name, search->kind->symbols[i]))
			search->found[i] =
				(struct code_range){ symbol->st_value,
						     symbol->st_value + symbol->st_size };
	return 0;
}

static int look_into(const struct space_range *range, const struct interpreter_kind *kind,
		     struct interpreter_binary *ret)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };
	const struct module *module = range->module;
	struct search search = { kind, ret->symbols };

	*ret = (struct interpreter_binary){ .module = module, .bias = range->bias };
	if (!module->image_path || elf_source_open_again(&source, module->image_path, module->path))
		return -ENOENT;
	(void)elf_symbols_each(source.elf, take_symbol, &search);
	if (!ret->symbols[0].start)
		return -ENOENT;
	for (unsigned i = 0; i < INTERPRETER_SYMBOLS_MAX; i++)
		if (ret->symbols[i].start) {
			ret->symbols[i].start += range->bias;
			ret->symbols[i].end += range->bias;
		}
	return 0;
}

bool interpreter_is_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(name, word, length) && !isalpha((unsigned char)name[length]);
}

static bool may_be(const struct module *module, const struct interpreter_kind *kind)
{
	const char *slash = strrchr(module->path, '/');

	return module->kind == MODULE_FILE && kind->is_name(slash ? slash + 1 : module->path);
}

int interpreter_binary_find(const struct space *space, const struct interpreter_kind *kind,
			    struct interpreter_binary *ret)
{
	const struct module *last = NULL;

	for (size_t i = 0; i < space->count; i++) {
		const struct space_range *range = &space->ranges[i];

		if (range->module == last || !may_be(range->module, kind))
			continue;
		last = range->module;
		if (!look_into(range, kind, ret))
			return 0;
	}
	return -ENOENT;
}

const char *interpreter_title_in(const struct space *space)
{
	for (size_t i = 0; i < space->count; i++)
		for (size_t k = 0; interpreter_kinds[k]; k++)
			if (may_be(space->ranges[i].module, interpreter_kinds[k]))
				return interpreter_kinds[k]->title;
	return NULL;
}

bool interpreter_binary_function(const struct interpreter_binary *binary, uint64_t address,
				 struct code_range *ret)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };
	const struct module *module = binary->module;
	struct symbol_table starts = { 0 };
	const struct symbol *symbol = NULL;

	if (!elf_source_open_again(&source, module->image_path, module->path) &&
	    !elf_starts_add(source.elf, &starts)) {
		symbol_table_finish(&starts);
		symbol = symbol_table_find(&starts, address - binary->bias);
	}
	if (symbol)
		*ret = (struct code_range){ symbol->address + binary->bias,
					    symbol->end + binary->bias };
	symbol_table_done(&starts);
	return symbol;
}

bool interpreter_binary_largest(const struct interpreter_binary *binary, struct code_range *ret)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };
	const struct module *module = binary->module;
	struct symbol_table starts = { 0 };
	uint64_t largest = 0;

	if (!elf_source_open_again(&source, module->image_path, module->path) &&
	    !elf_starts_add(source.elf, &starts))
		symbol_table_finish(&starts);
	for (size_t i = 0; i < starts.count; i++) {
		const struct symbol *symbol = &starts.items[i];

		if (symbol->end - symbol->address <= largest)
			continue;
		largest = symbol->end - symbol->address;
		*ret = (struct code_range){ symbol->address + binary->bias,
					    symbol->end + binary->bias };
	}
	symbol_table_done(&starts);
	return largest;
}

/* The first segment with these rights. */
static bool find_segment(const struct interpreter_binary *binary, unsigned rights,
			 struct code_range *ret)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };
	const struct module *module = binary->module;
	size_t count = 0;
	GElf_Phdr head;

	if (elf_source_open_again(&source, module->image_path, module->path) ||
	    elf_getphdrnum(source.elf, &count))
		return false;
	for (size_t i = 0; i < MIN(count, (size_t)INT32_MAX); i++)
		if (gelf_getphdr(source.elf, (int)i, &head) && head.p_type == PT_LOAD &&
		    head.p_flags & rights) {
			*ret = (struct code_range){ head.p_vaddr + binary->bias,
						    head.p_vaddr + head.p_memsz + binary->bias };
			return true;
		}
	return false;
}

bool interpreter_binary_code(const struct interpreter_binary *binary, struct code_range *ret)
{
	return find_segment(binary, PF_X, ret);
}

bool interpreter_binary_data(const struct interpreter_binary *binary, struct code_range *ret)
{
	return find_segment(binary, PF_W, ret);
}
