/*
 * glibc describes its block of a thread for debuggers (libthread_db): since 2.34 in its dynamic
 * symbols, before in those that libpthread keeps when it is stripped.  Files and memory are foreign
 * bytes.
 */
#include "host/interpreter/python/python.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"

#include <errno.h>
#include <string.h>

#define BLOCK_MAX 4096u /* known ones have some 2,000 bytes */

struct described {
	uint64_t word, size; /* addresses of the file; 0: not found */
};

/* "libc.so.6", "libc-2.31.so", "libpthread-2.31.so"; musl's: "ld-musl-aarch64.so.1". */
bool thread_number_is_library(const char *path)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-musl-" };
	const char *name = path_base_name(path);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

unsigned thread_number_check(const struct thread_word *word, uint32_t block_size)
{
	return block_size <= BLOCK_MAX && thread_word_is_sound(word, block_size) ? word->offset : 0;
}

static int take_symbol(Elf *elf, const GElf_Sym *symbol, const char *name, void *context)
{
	struct described *described = context;

	(void)elf;
	if (!name || symbol->st_shndx == SHN_UNDEF)
		return 0;
	if (!strcmp(name, "_thread_db_pthread_tid"))
		described->word = symbol->st_value;
	else if (!strcmp(name, "_thread_db_sizeof_pthread"))
		described->size = symbol->st_value;
	return described->word && described->size;
}

/* 0: not found. */
static unsigned look_into(const struct space_range *range, const struct target_memory *memory)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };
	const struct module *module = range->module;
	struct described described = { 0 };
	struct thread_word word;
	uint32_t size;

	if (!module->image_path || elf_source_open_again(&source, module->image_path, module->path))
		return 0;
	(void)elf_symbols_each(source.elf, take_symbol, &described);
	if (!described.word || !described.size ||
	    target_read(memory, described.word + range->bias, &word, sizeof(word)) ||
	    target_read(memory, described.size + range->bias, &size, sizeof(size)))
		return 0;
	return thread_number_check(&word, size);
}

int thread_number_find(const struct space *space, const struct target_memory *memory, unsigned *ret)
{
	const struct module *last = NULL;

	for (size_t i = 0; i < space->count; i++) {
		const struct space_range *range = &space->ranges[i];

		if (range->module->kind != MODULE_FILE || range->module == last ||
		    !thread_number_is_library(range->module->path))
			continue;
		last = range->module;
		*ret = look_into(range, memory);
		if (*ret)
			return 0;
	}
	return last ? -EOPNOTSUPP : -ENOENT;
}
