/*
 * Finds sections, segments and the build id of an ELF file; uncompresses sections.
 */
#include "host/unwind/elf/object.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "host/unwind/elf/bytes.h"

#define NOTE_NAME_SIZE 4 /* "GNU" and its zero */

static const unsigned char *bytes_at(const struct object *object, uint64_t offset, uint64_t size)
{
	if (offset > object->size || size > object->size - offset)
		return NULL;
	return object->bytes + offset;
}

static int copy_at(const struct object *object, uint64_t offset, void *into, size_t size)
{
	const unsigned char *from = bytes_at(object, offset, size);

	if (!from)
		return -ENOENT;
	memcpy(into, from, size);
	return 0;
}

static bool is_ours(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

int object_open(struct object *ret, const void *bytes, size_t size)
{
	*ret = (struct object){ .bytes = bytes, .size = size };
	if (copy_at(ret, 0, &ret->header, sizeof(ret->header)) || !is_ours(&ret->header))
		return -ENOEXEC;
	ret->segment_count = MIN(ret->header.e_phnum, OBJECT_SEGMENTS_MAX);
	if (copy_at(ret, ret->header.e_phoff, ret->segments,
		    ret->segment_count * sizeof(ret->segments[0])))
		return -ENOEXEC;
	return 0;
}

static int read_section(const struct object *object, unsigned index, Elf64_Shdr *ret)
{
	if (index >= object->header.e_shnum || object->header.e_shoff > object->size)
		return -ENOENT;
	return copy_at(object, object->header.e_shoff + (uint64_t)index * sizeof(*ret), ret,
		       sizeof(*ret));
}

static bool is_named(const struct object *object, const Elf64_Shdr *names,
		     const Elf64_Shdr *section, const char *name)
{
	size_t size = strlen(name) + 1;
	const unsigned char *text = bytes_at(object, names->sh_offset, names->sh_size);

	return text && section->sh_name < names->sh_size &&
	       size <= names->sh_size - section->sh_name &&
	       !memcmp(text + section->sh_name, name, size);
}

static int part_of(const struct object *object, const Elf64_Shdr *section, struct object_part *ret,
		   bool *ret_packed)
{
	const unsigned char *bytes = bytes_at(object, section->sh_offset, section->sh_size);

	if (!bytes || section->sh_type == SHT_NOBITS)
		return -ENOENT;
	*ret_packed = section->sh_flags & SHF_COMPRESSED;
	*ret = (struct object_part){ bytes, section->sh_size, section->sh_addr, true };
	return 0;
}

int object_section_raw(const struct object *object, const char *name, struct object_part *ret,
		       bool *ret_packed)
{
	Elf64_Shdr names, section;

	if (object->header.e_shentsize != sizeof(section) ||
	    read_section(object, object->header.e_shstrndx, &names))
		return -ENOENT;
	for (unsigned i = 0; i < object->header.e_shnum; i++)
		if (!read_section(object, i, &section) && is_named(object, &names, &section, name))
			return part_of(object, &section, ret, ret_packed);
	return -ENOENT;
}

int object_section(const struct object *object, const char *name, struct object_part *ret)
{
	bool is_packed;
	int r = object_section_raw(object, name, ret, &is_packed);

	return r ? r : is_packed ? -ENOENT : 0;
}

int object_at(const struct object *object, uint64_t address, struct object_part *ret)
{
	for (unsigned i = 0; i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];
		uint64_t skip = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    skip >= segment->p_filesz ||
		    !bytes_at(object, segment->p_offset, segment->p_filesz))
			continue;
		*ret = (struct object_part){ object->bytes + segment->p_offset + skip,
					     segment->p_filesz - skip, address, false };
		return 0;
	}
	return -ENOENT;
}

/* The header begins with a version and three encodings, then the pointer to .eh_frame. */
int object_unwind_segment(const struct object *object, struct object_part *ret)
{
	for (unsigned i = 0; i < object->segment_count; i++) {
		struct object_part part;
		struct dwarf_bytes header;
		unsigned encoding;
		uint64_t address;

		if (object->segments[i].p_type != PT_GNU_EH_FRAME ||
		    object_at(object, object->segments[i].p_vaddr, &part))
			continue;
		header = (struct dwarf_bytes){ part.bytes, part.bytes + part.size, part.address,
					       false };
		dwarf_read_fixed(&header, 1);
		encoding = (unsigned)dwarf_read_fixed(&header, 1);
		dwarf_read_fixed(&header, 2);
		address = dwarf_read_pointer(&header, encoding);
		return header.is_broken ? -ENOENT : object_at(object, address, ret);
	}
	return -ENOENT;
}

/* The build id's size; 0 when the note is another one. */
static unsigned read_note(struct dwarf_bytes *notes, unsigned char *ret, unsigned capacity)
{
	uint64_t name_size = dwarf_read_fixed(notes, 4), size = dwarf_read_fixed(notes, 4);
	uint64_t type = dwarf_read_fixed(notes, 4);
	struct dwarf_bytes name = dwarf_read_piece(notes, ALIGN_UP(name_size, 4));
	struct dwarf_bytes content = dwarf_read_piece(notes, ALIGN_UP(size, 4));

	if (notes->is_broken || type != NT_GNU_BUILD_ID || name_size != NOTE_NAME_SIZE ||
	    memcmp(name.at, "GNU", NOTE_NAME_SIZE))
		return 0;
	size = MIN(size, capacity);
	memcpy(ret, content.at, size);
	return (unsigned)size;
}

unsigned object_build_id(const struct object *object, unsigned char *ret, unsigned capacity)
{
	unsigned found = 0;

	for (unsigned i = 0; !found && i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];
		const unsigned char *bytes = bytes_at(object, segment->p_offset, segment->p_filesz);
		struct dwarf_bytes notes;

		if (segment->p_type != PT_NOTE || !bytes)
			continue;
		notes = (struct dwarf_bytes){ bytes, bytes + segment->p_filesz, 0, false };
		while (!found && notes.at < notes.end && !notes.is_broken)
			found = read_note(&notes, ret, capacity);
	}
	return found;
}

/* With so many bytes of code, of the file or in memory. */
static bool is_code(const Elf64_Phdr *segment, uint64_t size)
{
	return segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
	       size <= UINT64_MAX - segment->p_vaddr;
}

bool object_code(const struct object *object, uint64_t *ret_first, uint64_t *ret_end)
{
	uint64_t first = UINT64_MAX, end = 0;

	for (unsigned i = 0; i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];

		if (!is_code(segment, segment->p_memsz))
			continue;
		first = MIN(first, segment->p_vaddr);
		end = MAX(end, segment->p_vaddr + segment->p_memsz);
	}
	*ret_first = first;
	*ret_end = end;
	return first < end;
}

static bool is_code_of(const Elf64_Shdr *section, const Elf64_Phdr *segment)
{
	return section->sh_flags & SHF_EXECINSTR && section->sh_addr >= segment->p_vaddr &&
	       section->sh_addr - segment->p_vaddr < segment->p_filesz &&
	       section->sh_size <= segment->p_filesz - (section->sh_addr - segment->p_vaddr);
}

/* Sections that do not cover the entry point are not trusted. */
static bool omits_entry(const struct object *object, const Elf64_Phdr *segment, uint64_t first,
			uint64_t end)
{
	uint64_t entry = object->header.e_entry;

	return entry && entry - segment->p_vaddr < segment->p_filesz &&
	       (entry < first || entry >= end);
}

bool object_code_of(const struct object *object, const Elf64_Phdr *segment, uint64_t *ret_first,
		    uint64_t *ret_end)
{
	uint64_t first = UINT64_MAX, end = 0;
	Elf64_Shdr section;

	if (!is_code(segment, segment->p_filesz))
		return false;
	for (unsigned i = 0;
	     object->header.e_shentsize == sizeof(section) && i < object->header.e_shnum; i++) {
		if (read_section(object, i, &section) || !is_code_of(&section, segment))
			continue;
		first = MIN(first, section.sh_addr);
		end = MAX(end, section.sh_addr + section.sh_size);
	}
	if (!end || omits_entry(object, segment, first, end)) {
		first = segment->p_vaddr;
		end = first + segment->p_filesz;
	}
	*ret_first = first;
	*ret_end = end;
	return *ret_first < *ret_end;
}

bool object_address_of(const struct object *object, uint64_t file_offset, uint64_t *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];

		if (!is_code(segment, 0) || file_offset < ALIGN_DOWN(segment->p_offset, page) ||
		    file_offset >= segment->p_offset + segment->p_filesz)
			continue;
		*ret = file_offset - segment->p_offset + segment->p_vaddr;
		return true;
	}
	return false;
}

#define OLD_MAGIC        "ZLIB" /* then the size, big endian, then zlib's bytes */
#define OLD_HEAD         12u
#define TYPE_ZLIB        1u /* ELFCOMPRESS_... */
#define TYPE_ZSTD        2u
#define SECTION_NAME_MAX 64

struct packed {
	const unsigned char *bytes;
	uint64_t size, unpacked_size;
	unsigned type;
};

static int unpack_zlib(const struct packed *packed, unsigned char *into)
{
	uLongf size = packed->unpacked_size;

	return uncompress(into, &size, packed->bytes, packed->size) == Z_OK &&
			       size == packed->unpacked_size
		       ? 0
		       : -EBADMSG;
}

static int unpack_zstd(const struct packed *packed, unsigned char *into)
{
	size_t size = ZSTD_decompress(into, packed->unpacked_size, packed->bytes, packed->size);

	return !ZSTD_isError(size) && size == packed->unpacked_size ? 0 : -EBADMSG;
}

static int (*const unpackers[])(const struct packed *packed, unsigned char *into) = {
	[TYPE_ZLIB] = unpack_zlib,
	[TYPE_ZSTD] = unpack_zstd,
};

static int part_unpack(const struct packed *packed, struct object_part *ret, void **ret_owned)
{
	unsigned char *into;
	int r;

	if (packed->type >= ARRAY_SIZE(unpackers) || !unpackers[packed->type])
		return -EBADMSG;
	if (packed->unpacked_size > UNPACKED_MAX)
		return -EFBIG;
	into = malloc(MAX(packed->unpacked_size, 1u));
	if (!into)
		return -ENOMEM;
	r = unpackers[packed->type](packed, into);
	if (r) {
		free(into);
		return r;
	}
	ret->bytes = into;
	ret->size = packed->unpacked_size;
	*ret_owned = into;
	return 0;
}

static int unpack_new(struct object_part *part, void **ret_owned)
{
	Elf64_Chdr head;

	if (part->size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, part->bytes, sizeof(head));
	return part_unpack(&(struct packed){ part->bytes + sizeof(head), part->size - sizeof(head),
					     head.ch_size, head.ch_type },
			   part, ret_owned);
}

int object_unpack(const struct object *object, const char *name, struct object_part *ret,
		  void **ret_owned)
{
	char old[SECTION_NAME_MAX];
	bool is_packed;
	uint64_t size;

	*ret_owned = NULL;
	if (!object_section_raw(object, name, ret, &is_packed))
		return is_packed ? unpack_new(ret, ret_owned) : 0;
	snprintf(old, sizeof(old), ".z%s", name + 1);
	if (object_section_raw(object, old, ret, &is_packed))
		return -ENOENT;
	if (ret->size < OLD_HEAD || memcmp(ret->bytes, OLD_MAGIC, strlen(OLD_MAGIC)) != 0)
		return -EBADMSG;
	memcpy(&size, ret->bytes + strlen(OLD_MAGIC), sizeof(size));
	return part_unpack(&(struct packed){ ret->bytes + OLD_HEAD, ret->size - OLD_HEAD,
					     be64toh(size), TYPE_ZLIB },
			   ret, ret_owned);
}
