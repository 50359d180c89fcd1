/*
 * Adds up the sizes in the section headers of an ELF file.  Reads headers and names of sections,
 * nothing else.
 */
#include "host/symbols/elf/elf_limits.h"

#include "host/core/cleanup.h"
#include "host/core/notes.h"
#include "host/process/foreign_file.h"
#include "shared/arch/elf.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB         ((uint64_t)1 << 20)
#define GNU_PACKED  ".zdebug_"
#define GNU_MAGIC   "ZLIB"
#define SECTION_ANY UINT32_MAX

enum class {
	CLASS_DEBUG,
	CLASS_SYMBOLS,
	CLASS_STRINGS,
	CLASS_RELOCATIONS,
	CLASS_NOTES,
	CLASS_GO,
	CLASSES,
};

static const struct {
	const char *what;
	uint64_t max;
} classes[CLASSES] = {
	[CLASS_DEBUG] = { "debug information", ELF_DEBUG_MAX },
	[CLASS_SYMBOLS] = { "symbols", ELF_SYMBOLS_MAX },
	[CLASS_STRINGS] = { "strings", ELF_STRINGS_MAX },
	[CLASS_RELOCATIONS] = { "relocations", ELF_RELOCATIONS_MAX },
	[CLASS_NOTES] = { "notes", ELF_NOTES_MAX },
	[CLASS_GO] = { "functions of Go", ELF_GO_MAX },
};

/* Sections in no class are never read as a whole. */
static const struct {
	const char *prefix;
	uint32_t type;
	enum class class;
} sections[] = {
	{ ".debug_", SECTION_ANY, CLASS_DEBUG },
	{ GNU_PACKED, SECTION_ANY, CLASS_DEBUG },
	{ ".gnu.debuglto_.debug_", SECTION_ANY, CLASS_DEBUG },
	{ ".gopclntab", SECTION_ANY, CLASS_GO },
	{ ".data.rel.ro.gopclntab", SECTION_ANY, CLASS_GO },
	{ "", SHT_SYMTAB, CLASS_SYMBOLS },
	{ "", SHT_DYNSYM, CLASS_SYMBOLS },
	{ "", SHT_STRTAB, CLASS_STRINGS },
	{ "", SHT_RELA, CLASS_RELOCATIONS },
	{ "", SHT_NOTE, CLASS_NOTES },
};

struct check {
	const struct elf_bytes *bytes;
	const char *name; /* of the file */
	Elf64_Shdr *headers;
	uint64_t count;
	char *names;
	uint64_t names_size;
	uint64_t sums[CLASSES];
	bool is_too_much[CLASSES];
};

static void check_done_at_scope_end(struct check *check)
{
	free(check->headers);
	free(check->names);
}

static bool read_at(const struct elf_bytes *bytes, uint64_t at, void *into, size_t size)
{
	if (at > bytes->size || size > bytes->size - at)
		return false;
	if (!bytes->memory)
		return pread(bytes->fd, into, size, (off_t)at) == (ssize_t)size;
	memcpy(into, bytes->memory + at, size);
	return true;
}

static bool is_ours(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == ARCH_ELF_MACHINE;
}

/* If there are too many for its field, the first section has the number. */
static int read_headers(struct check *check, const Elf64_Ehdr *header)
{
	Elf64_Shdr first = { 0 };

	if (!header->e_shoff)
		return 0;
	if (header->e_shentsize != sizeof(first) ||
	    !read_at(check->bytes, header->e_shoff, &first, sizeof(first)))
		return -ENOEXEC;
	check->count = header->e_shnum ? header->e_shnum : first.sh_size;
	if (check->count > ELF_SECTIONS_MAX) {
		note_add("names of %s are not read: it says that it has %" PRIu64
			 " sections, and up to %u are read",
			 check->name, check->count, ELF_SECTIONS_MAX);
		return -EFBIG;
	}
	check->headers = calloc(MAX(check->count, 1u), sizeof(first));
	if (!check->headers)
		return -ENOMEM;
	return read_at(check->bytes, header->e_shoff, check->headers, check->count * sizeof(first))
		       ? 0
		       : -ENOEXEC;
}

/* Without names only types identify a section. */
static int read_names(struct check *check, const Elf64_Ehdr *header)
{
	uint64_t number = header->e_shstrndx;
	const Elf64_Shdr *names;

	if (number == SHN_XINDEX && check->count)
		number = check->headers[0].sh_link;
	if (!number || number >= check->count)
		return 0;
	names = &check->headers[number];
	if (names->sh_size > ELF_NAMES_MAX) {
		note_add("names of %s are not read: the names of its sections have %" PRIu64
			 " MiB, and up to %" PRIu64 " MiB are read",
			 check->name, names->sh_size / MIB, ELF_NAMES_MAX / MIB);
		return -EFBIG;
	}
	check->names = calloc(1, names->sh_size + 1);
	if (!check->names)
		return -ENOMEM;
	if (read_at(check->bytes, names->sh_offset, check->names, names->sh_size))
		check->names_size = names->sh_size;
	return 0;
}

static enum class class_of(const char *name, const Elf64_Shdr *section) {
	for (size_t i = 0; i < ARRAY_SIZE(sections);
	     i++) if ((sections[i].type == SECTION_ANY || sections[i].type == section->sh_type) &&
		      !strncmp(name, sections[i].prefix,
			       strlen(sections[i].prefix))) return sections[i]
		.class;
	return CLASSES;
}

/* The section's size in memory: compressed ones have it in their header. */
static uint64_t size_of(const struct check *check, const char *name, const Elf64_Shdr *section)
{
	Elf64_Chdr packed;
	struct {
		char magic[4];
		uint32_t size[2]; /* big endian */
	} old;

	if (section->sh_flags & SHF_COMPRESSED &&
	    read_at(check->bytes, section->sh_offset, &packed, sizeof(packed)))
		return MAX(packed.ch_size, section->sh_size);
	if (!strncmp(name, GNU_PACKED, strlen(GNU_PACKED)) &&
	    read_at(check->bytes, section->sh_offset, &old, sizeof(old)) &&
	    !memcmp(old.magic, GNU_MAGIC, sizeof(old.magic)))
		return (uint64_t)be32toh(old.size[0]) << 32 | be32toh(old.size[1]);
	return section->sh_size;
}

static void refuse_class(struct check *check, enum class class, const char *section)
{
	uint64_t max = MIN(classes[class].max, check->bytes->max);

	if (!check->is_too_much[class])
		note_add("%s of %s are not read: with its section %s it would have %" PRIu64
			 " MiB of %s, and up to %" PRIu64 " MiB are read%s",
			 class == CLASS_DEBUG ? "lines" : "names", check->name, section,
			 check->sums[class] / MIB, classes[class].what, max / MIB,
			 max < classes[class].max ? ", as it has little on disk" : "");
	check->is_too_much[class] = true;
}

/* For each string of a table, libelf searches from its end for a zero. */
static bool is_ended(const struct check *check, const Elf64_Shdr *section)
{
	char last = 1;

	return !section->sh_size || section->sh_offset > UINT64_MAX - section->sh_size ||
	       !read_at(check->bytes, section->sh_offset + section->sh_size - 1, &last, 1) || !last;
}

static void add_section(struct check *check, const Elf64_Shdr *section)
{
	const char *name =
		section->sh_name < check->names_size ? check->names + section->sh_name : "";
	enum class class = section->sh_type == SHT_NOBITS ? CLASSES : class_of(name, section);

	if (class == CLASSES)
		return;
	if (__builtin_add_overflow(check->sums[class], size_of(check, name, section),
				   &check->sums[class]))
		check->sums[class] = UINT64_MAX;
	if (check->sums[class] > MIN(classes[class].max, check->bytes->max))
		refuse_class(check, class, name);
	if (class == CLASS_STRINGS && !is_ended(check, section)) {
		note_add("names of %s are not read: its section %s has no end", check->name, name);
		check->is_too_much[class] = true;
	}
}

int elf_limits_check(const struct elf_bytes *bytes, const char *name, struct elf_verdict *ret)
{
	CLEANUP(check_done) struct check check = { .bytes = bytes, .name = name };
	Elf64_Ehdr header;
	int r;

	if (!read_at(bytes, 0, &header, sizeof(header)) || !is_ours(&header) ||
	    header.e_phnum == PN_XNUM)
		return -ENOEXEC;
	r = read_headers(&check, &header);
	if (!r)
		r = read_names(&check, &header);
	for (uint64_t i = 0; !r && i < check.count; i++)
		add_section(&check, &check.headers[i]);
	for (unsigned i = CLASS_SYMBOLS; !r && i < CLASSES; i++)
		r = check.is_too_much[i] ? -EFBIG : 0;
	ret->has_lines = !check.is_too_much[CLASS_DEBUG];
	return r;
}

int elf_limits_check_file(int fd, const char *name, struct elf_verdict *ret)
{
	struct elf_bytes bytes = { .fd = fd, .max = foreign_file_limit(fd, UINT64_MAX) };
	struct stat file;

	if (fstat(fd, &file) < 0)
		return -errno;
	bytes.size = (uint64_t)file.st_size;
	return elf_limits_check(&bytes, name, ret);
}

int elf_limits_check_read(Elf *elf, uint64_t max)
{
	uint64_t sums[CLASSES] = { 0 };
	Elf_Scn *section = NULL;
	size_t count;

	if (elf_getshdrnum(elf, &count) || count > ELF_SECTIONS_MAX)
		return -EFBIG;
	while ((section = elf_nextscn(elf, section))) {
		const Elf64_Shdr *header = elf64_getshdr(section);
		enum class class = header ? class_of("", header) : CLASSES;

		if (class == CLASSES)
			continue;
		if (__builtin_add_overflow(sums[class], header->sh_size, &sums[class]) ||
		    sums[class] > MIN(classes[class].max, max))
			return -EFBIG;
	}
	return 0;
}
