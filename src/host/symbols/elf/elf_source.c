/*
 * Opens ELF files by libelf.
 */
#include "host/symbols/elf/elf_source.h"

#include "host/process/foreign_file.h"
#include "host/symbols/elf/elf_limits.h"
#include "shared/arch/elf.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions below replace those of libelf's own object of that name: its variable is
 * thread-local in a form that Debian's static library cannot bring into a shared library.  limpet
 * never calls elf_errno(). */
void __libelf_seterrno(int number);

void __libelf_seterrno(int number)
{
	(void)number;
}

int elf_errno(void)
{
	return 0;
}

const char *elf_errmsg(int number)
{
	(void)number;
	return "";
}

static int elf_source_check(struct elf_source *source)
{
	Elf *elf = source->elf;
	GElf_Ehdr head;

	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
	    gelf_getehdr(elf, &head) && head.e_machine == ARCH_ELF_MACHINE)
		return 0;
	elf_source_close(source);
	return -ENOEXEC;
}

/* Owns the descriptor. */
static int open_in(struct elf_source *ret, int fd, const char *name)
{
	struct elf_verdict verdict;
	int r = fd < 0 ? fd : elf_limits_check_file(fd, name, &verdict);

	if (r) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	elf_version(EV_CURRENT);
	*ret = (struct elf_source){ .fd = fd,
				    .elf = elf_begin(fd, ELF_C_READ, NULL),
				    .has_lines = verdict.has_lines };
	r = elf_source_check(ret);
	if (!r)
		r = elf_limits_check_read(ret->elf, foreign_file_limit(fd, UINT64_MAX));
	if (r)
		elf_source_close(ret);
	return r;
}

int elf_source_open(struct elf_source *ret, pid_t pid, const char *path)
{
	return open_in(ret, foreign_file_open(pid, path), path);
}

int elf_source_open_again(struct elf_source *ret, const char *path, const char *name)
{
	return open_in(ret, foreign_file_open_again(path), name);
}

int elf_source_in(struct elf_source *ret, char *memory, size_t size)
{
	const struct elf_bytes bytes = { .memory = memory, .size = size, .max = UINT64_MAX };
	struct elf_verdict ignored;
	int r = elf_limits_check(&bytes, "a file in memory", &ignored);

	if (r) {
		free(memory);
		*ret = (struct elf_source){ .fd = -1 };
		return r;
	}
	elf_version(EV_CURRENT);
	*ret = (struct elf_source){ .fd = -1, .memory = memory, .elf = elf_memory(memory, size) };
	return elf_source_check(ret);
}

void elf_source_close(struct elf_source *source)
{
	if (source->elf)
		elf_end(source->elf);
	if (source->fd > 0)
		close(source->fd);
	free(source->memory);
	*source = (struct elf_source){ .fd = -1 };
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, ret) && ret->sh_type != SHT_NOBITS
					    ? elf_strptr(elf, names, ret->sh_name)
					    : NULL;

		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

bool elf_has_section(Elf *elf, const char *name)
{
	GElf_Shdr head;

	return find_section(elf, name, &head) && head.sh_size;
}

bool elf_section_part(Elf *elf, const char *name, struct elf_part *ret)
{
	GElf_Shdr head;
	Elf_Scn *section = find_section(elf, name, &head);
	const Elf_Data *data =
		section && head.sh_size <= ELF_PART_MAX ? elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf)
		return false;
	*ret = (struct elf_part){ data->d_buf, data->d_size, head.sh_addr };
	return true;
}

/* In one section or segment of notes. */
static const unsigned char *find_note(Elf_Data *notes, size_t *ret_size)
{
	size_t at = 0, next, name, content;
	GElf_Nhdr note;

	while (notes && (next = gelf_getnote(notes, at, &note, &name, &content))) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    memcmp((const char *)notes->d_buf + name, "GNU", sizeof("GNU")) == 0) {
			*ret_size = note.n_descsz;
			return (const unsigned char *)notes->d_buf + content;
		}
		at = next;
	}
	return NULL;
}

const unsigned char *elf_build_id(Elf *elf, size_t *ret_size)
{
	const unsigned char *found = NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while (!found && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) && head.sh_type == SHT_NOTE)
			found = find_note(elf_getdata(section, NULL), ret_size);
	return found;
}

bool elf_has_build_id(Elf *elf, const unsigned char *build_id, size_t size)
{
	size_t found_size = 0;
	const unsigned char *found = elf_build_id(elf, &found_size);

	return found && size && found_size == size && memcmp(found, build_id, size) == 0;
}

size_t elf_bytes(Elf *elf, unsigned kinds)
{
	Elf_Scn *section = NULL;
	size_t bytes = 0, names;
	GElf_Shdr head;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name =
			gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;

		if (!name || head.sh_type == SHT_NOBITS)
			continue;
		if ((kinds & ELF_BYTES_NAMES &&
		     (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM ||
		      head.sh_type == SHT_STRTAB)) ||
		    (kinds & ELF_BYTES_GO && strstr(name, "gopclntab")) ||
		    (kinds & ELF_BYTES_DEBUG && !strncmp(name, ".debug_", strlen(".debug_"))))
			bytes += head.sh_size;
	}
	return bytes;
}
