/*
 * A library that a program loads while it is traced, and that changes a word of its own as another
 * tracer would.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void allocate_there(size_t size, int times);
void change_word(void);
void *malloc_word(void);

static void *volatile taken;

void allocate_there(size_t size, int times)
{
	while (times--) {
		taken = malloc(size);
		free(taken);
	}
}

static void *(*previous)(size_t);

static void *other_malloc(size_t size)
{
	return previous(size);
}

static const ElfW(Dyn) * find(const ElfW(Dyn) * at, int64_t tag)
{
	while (at->d_tag != DT_NULL && at->d_tag != tag)
		at++;
	return at;
}

/* The word through which this library calls malloc. */
static void **find_word(void)
{
	Dl_info unused;
	struct link_map *map = NULL;
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * item;
	size_t count;

	if (!dladdr1((void *)change_word, &unused, (void **)&map, RTLD_DL_LINKMAP))
		return NULL;
	dynamic = map->l_ld;
	symbols = (const void *)find(dynamic, DT_SYMTAB)->d_un.d_ptr;
	names = (const void *)find(dynamic, DT_STRTAB)->d_un.d_ptr;
	item = (const void *)find(dynamic, DT_JMPREL)->d_un.d_ptr;
	count = find(dynamic, DT_PLTRELSZ)->d_un.d_val / sizeof(*item);
	for (; count--; item++)
		if (!strcmp(names + symbols[ELF64_R_SYM(item->r_info)].st_name, "malloc"))
			return (void **)(map->l_addr + item->r_offset);
	return NULL;
}

/* What is in it now. */
void *malloc_word(void)
{
	void **word = find_word();

	return word ? *word : NULL;
}

/* Takes it over, whatever is in it now. */
void change_word(void)
{
	void **word = find_word();

	if (!word)
		return;
	previous = (void *(*)(size_t)) * word;
	*word = (void *)other_malloc;
}
