/*
 * Loads the needed parts of an ELF object.  A file is read, not mapped: one truncated meanwhile
 * would end limpet by SIGBUS.
 */
#include "host/unwind/tables/image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/process/foreign_file.h"
#include "host/unwind/arch/code.h"
#include "host/unwind/elf/object.h"
#include "host/unwind/rules/gopclntab.h"

#define SIZE_LIMIT     FOREIGN_FILE_MAX
#define SYMBOLS_MAX    ((uint64_t)16 << 20) /* of symbols that name the ends of stacks */
#define HEADER_EXCERPT 64                   /* of PT_GNU_EH_FRAME: its fixed part is shorter */

/* Reads bytes of the object by their offset in the file. */
struct origin {
	int (*read)(const struct origin *origin, uint64_t offset, void *into, size_t size);
	int fd;
	const struct memory_reader *memory;
	uint64_t base, part_max;
	const struct image *image; /* its program headers: where in memory parts are */
};

static int read_file(const struct origin *origin, uint64_t offset, void *into, size_t size)
{
	while (size) {
		ssize_t n = pread(origin->fd, into, size, (off_t)offset);

		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		into = (char *)into + n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static const Elf64_Phdr *segment_of(const struct object *object, uint64_t offset)
{
	for (unsigned i = 0; i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];

		if (segment->p_type == PT_LOAD && offset >= segment->p_offset &&
		    offset - segment->p_offset < segment->p_filesz)
			return segment;
	}
	return NULL;
}

/* `base` is the address of the file's first byte, and of its segment.  The program headers
 * themselves, which are read first, are in the same segment. */
static int read_memory(const struct origin *origin, uint64_t offset, void *into, size_t size)
{
	const Elf64_Phdr *first = NULL, *segment = NULL;
	uint64_t address = origin->base + offset;
	struct object object;

	if (!object_open(&object, origin->image->bytes, origin->image->size)) {
		first = segment_of(&object, 0);
		segment = segment_of(&object, offset);
	}
	if (first && !segment)
		return -ENOENT;
	if (first)
		address = origin->base - first->p_vaddr + segment->p_vaddr +
			  (offset - segment->p_offset);
	return origin->memory->read(origin->memory->context, address, into, size);
}

/* A part that cannot be read stays zero: code that needs it finds nothing. */
static void image_fetch(struct image *image, const struct origin *origin, uint64_t offset,
			uint64_t size)
{
	if (offset >= image->size)
		return;
	size = MIN(size, image->size - offset);
	image->is_cut |= size > origin->part_max;
	if (size > origin->part_max)
		return;
	if (origin->read(origin, offset, image->bytes + offset, size) < 0)
		memset(image->bytes + offset, 0, size);
}

static void fetch_part(struct image *image, const struct origin *origin,
		       const struct object_part *part)
{
	/* A part without a size ends with a mark. */
	uint64_t size = part->has_size ? part->size : MIN(part->size, origin->part_max);

	image_fetch(image, origin, (uint64_t)(part->bytes - image->bytes), size);
}

static bool fetch_section(struct image *image, const struct origin *origin,
			  const struct object *object, const char *name)
{
	struct object_part part;

	if (object_section(object, name, &part))
		return false;
	fetch_part(image, origin, &part);
	return true;
}

static void fetch_names(struct image *image, const struct origin *origin,
			const struct object *object)
{
	uint64_t headers = (uint64_t)object->header.e_shnum * sizeof(Elf64_Shdr);
	uint64_t offset =
		object->header.e_shoff + (uint64_t)object->header.e_shstrndx * sizeof(Elf64_Shdr);
	Elf64_Shdr names;

	image_fetch(image, origin, object->header.e_shoff, headers);
	if (offset > image->size || sizeof(names) > image->size - offset)
		return;
	memcpy(&names, image->bytes + offset, sizeof(names));
	image_fetch(image, origin, names.sh_offset, names.sh_size);
}

/* Symbols are useful, but not needed: large ones are skipped. */
static void fetch_symbols(struct image *image, const struct origin *origin,
			  const struct object *object)
{
	static const char *const sections[] = { ".symtab", ".strtab", ".dynsym", ".dynstr" };
	struct object_part part;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!object_section(object, sections[i], &part) &&
		    part.size <= MIN(SYMBOLS_MAX, origin->part_max))
			fetch_part(image, origin, &part);
}

/* Where instructions give rules: the code, and the symbols at which functions begin.  Only Go needs
 * all of them: for others they fill gaps, and gaps_add() skips larger ones. */
static void fetch_code(struct image *image, const struct origin *origin,
		       const struct object *object, bool has_go)
{
	for (unsigned i = 0; i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    (has_go || segment->p_filesz <= IMAGE_PART_MAX))
			image_fetch(image, origin, segment->p_offset, segment->p_filesz);
	}
	fetch_section(image, origin, object, ".symtab");
	fetch_section(image, origin, object, ".dynsym");
}

/* False: there is no Go code. */
static bool fetch_go(struct image *image, const struct origin *origin, const struct object *object)
{
	if (!fetch_section(image, origin, object, ".gopclntab") &&
	    !fetch_section(image, origin, object, ".data.rel.ro.gopclntab"))
		return false;
	if (!fetch_section(image, origin, object, ".rela.dyn"))
		fetch_section(image, origin, object, ".rela");
	fetch_section(image, origin, object, GO_DESCRIPTION);
	return true;
}

static int fetch_all(struct image *image, const struct origin *origin)
{
	Elf64_Ehdr header;
	struct object object;
	struct object_part part;
	bool is_packed;

	memcpy(&header, image->bytes, sizeof(header));
	image_fetch(image, origin, header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr));
	if (object_open(&object, image->bytes, image->size) < 0)
		return -ENOEXEC;
	fetch_names(image, origin, &object);
	for (unsigned i = 0; i < object.segment_count; i++) {
		const Elf64_Phdr *segment = &object.segments[i];

		if (segment->p_type == PT_NOTE)
			image_fetch(image, origin, segment->p_offset, segment->p_filesz);
		if (segment->p_type == PT_GNU_EH_FRAME)
			image_fetch(image, origin, segment->p_offset,
				    MIN(segment->p_filesz, HEADER_EXCERPT));
	}
	fetch_section(image, origin, &object, ".plt");
	if ((!object_section(&object, ".eh_frame", &part) && part.size > sizeof(uint32_t)) ||
	    !object_unwind_segment(&object, &part))
		fetch_part(image, origin, &part);
	if (!object_section_raw(&object, ".debug_frame", &part, &is_packed) ||
	    !object_section_raw(&object, ".zdebug_frame", &part, &is_packed))
		fetch_part(image, origin, &part);
	fetch_symbols(image, origin, &object);
	image->has_code = fetch_go(image, origin, &object);
	if (image->has_code)
		fetch_code(image, origin, &object, /* has_go */ true);
	return 0;
}

static void fetch_missing_code(struct image *image, const struct origin *origin)
{
	struct object object;

	if (image->has_code || object_open(&object, image->bytes, image->size) < 0 ||
	    !unwind_machine_of(object.header.e_machine))
		return;
	fetch_code(image, origin, &object, /* has_go */ false);
	image->has_code = true;
}

static int image_load(struct image *ret, struct origin *origin, const Elf64_Ehdr *header,
		      uint64_t size)
{
	void *bytes;
	int r;

	if (size < sizeof(*header) || size > SIZE_LIMIT)
		return -ENOEXEC;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	*ret = (struct image){ .bytes = bytes, .size = size };
	memcpy(ret->bytes, header, sizeof(*header));
	origin->image = ret;
	r = fetch_all(ret, origin);
	if (r < 0)
		image_done(ret);
	return r;
}

static bool is_object(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

static struct origin file_origin(int fd)
{
	return (struct origin){ .read = read_file,
				.fd = fd,
				.part_max = foreign_file_limit(fd, IMAGE_PART_MAX) };
}

int image_load_file(struct image *ret, int fd)
{
	struct origin origin = file_origin(fd);
	struct stat facts;
	Elf64_Ehdr header;

	if (fstat(fd, &facts) < 0)
		return -errno;
	if (read_file(&origin, 0, &header, sizeof(header)) < 0 || !is_object(&header))
		return -ENOEXEC;
	return image_load(ret, &origin, &header, (uint64_t)facts.st_size);
}

void image_load_code(struct image *image, int fd)
{
	const struct origin origin = file_origin(fd);

	fetch_missing_code(image, &origin);
}

/* The length of the mapped file, as far as its segments extend. */
static int file_measure(const struct memory_reader *memory, uint64_t base, const Elf64_Ehdr *header,
			uint64_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < MIN(header->e_phnum, OBJECT_SEGMENTS_MAX); i++) {
		Elf64_Phdr segment;
		int r = memory->read(memory->context, base + header->e_phoff + i * sizeof(segment),
				     &segment, sizeof(segment));

		if (r < 0)
			return r;
		if (segment.p_type == PT_LOAD && segment.p_offset < SIZE_LIMIT &&
		    segment.p_filesz < SIZE_LIMIT)
			*ret = MAX(*ret, segment.p_offset + segment.p_filesz);
	}
	return 0;
}

int image_load_memory(struct image *ret, const struct memory_reader *memory, uint64_t base)
{
	struct origin origin = {
		.read = read_memory, .memory = memory, .base = base, .part_max = IMAGE_PART_MAX
	};
	Elf64_Ehdr header;
	uint64_t size;
	int r = memory->read(memory->context, base, &header, sizeof(header));

	if (r < 0)
		return r;
	if (!is_object(&header))
		return -ENOEXEC;
	r = file_measure(memory, base, &header, &size);
	if (r < 0)
		return r;
	header.e_shoff = 0; /* section headers are not loaded */
	header.e_shnum = header.e_shstrndx = 0;
	r = image_load(ret, &origin, &header, size);
	if (!r)
		fetch_missing_code(ret, &origin);
	return r;
}

void image_done(struct image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->size);
	*image = (struct image){ 0 };
}
