/*
 * Reads symbol tables of files.  The file is foreign: every table is bounded by the file's size,
 * and copied out where it may not be aligned.
 */
#include "shared/elf/file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

struct file_view {
	const unsigned char *bytes;
	size_t size;
};

static const unsigned char *view_at(const struct file_view *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

static int copy_at(const struct file_view *file, uint64_t offset, void *into, size_t size)
{
	const unsigned char *from = view_at(file, offset, size);

	if (!from)
		return -ENOENT;
	memcpy(into, from, size);
	return 0;
}

static int find_in_table(const struct file_view *file, const Elf64_Shdr *table,
			 const Elf64_Shdr *names, const char *name, uint64_t *ret)
{
	const unsigned char *symbols = view_at(file, table->sh_offset, table->sh_size);
	const unsigned char *texts = view_at(file, names->sh_offset, names->sh_size);
	size_t length = strlen(name) + 1;
	Elf64_Sym symbol;

	if (!symbols || !texts)
		return -ENOENT;
	for (uint64_t at = 0; at + sizeof(symbol) <= table->sh_size; at += sizeof(symbol)) {
		memcpy(&symbol, symbols + at, sizeof(symbol));
		if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names->sh_size ||
		    length > names->sh_size - symbol.st_name)
			continue;
		if (!memcmp(texts + symbol.st_name, name, length)) {
			*ret = symbol.st_value;
			return 0;
		}
	}
	return -ENOENT;
}

static int read_section(const struct file_view *file, const Elf64_Ehdr *header, unsigned index,
			Elf64_Shdr *ret)
{
	if (index >= header->e_shnum || header->e_shoff > file->size)
		return -ENOENT;
	return copy_at(file, header->e_shoff + (uint64_t)index * sizeof(*ret), ret, sizeof(*ret));
}

int elf_file_symbol(const void *bytes, size_t size, const char *name, uint64_t *ret)
{
	const struct file_view file = { bytes, size };
	Elf64_Shdr table, names;
	Elf64_Ehdr header;

	if (copy_at(&file, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_shentsize != sizeof(table))
		return -ENOENT;
	for (unsigned i = 0; i < header.e_shnum; i++) {
		if (read_section(&file, &header, i, &table))
			return -ENOENT;
		if (table.sh_type == SHT_SYMTAB &&
		    !read_section(&file, &header, table.sh_link, &names))
			return find_in_table(&file, &table, &names, name, ret);
	}
	return -ENOENT;
}
