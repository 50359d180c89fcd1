/*
 * Reads an ELF object from the memory of a process.  Runs in the host on foreign bytes: fuzzed.
 */
#include "shared/elf/image.h"

#include "shared/arch/elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define HEADERS_MAX    64
#define DYNAMIC_MAX    512
#define CHAIN_MAX      65536u
#define NAME_MAX_BYTES 64
#define OBJECT_MAX     (1ull << 40)
#define CHUNK          16384

#define RELOCATIONS_AT_ONCE 256
#define DYNAMIC_AT_ONCE     32

static int read_at(const struct elf_image *image, uint64_t address, void *into, size_t size)
{
	return image->memory->read(image->memory->context, address, into, size);
}

static void add_load(struct elf_image *image, const Elf64_Phdr *header)
{
	uint64_t start = image->bias + header->p_vaddr;

	image->end = MAX(image->end, start + header->p_memsz);
	if ((header->p_flags & PF_X) && image->code_count < ELF_CODE_RANGES_MAX)
		image->code[image->code_count++] = (struct elf_range){ start, header->p_filesz };
}

static void add_header(struct elf_image *image, const Elf64_Phdr *header)
{
	uint64_t start = image->bias + header->p_vaddr;

	switch (header->p_type) {
	case PT_LOAD:
		add_load(image, header);
		break;
	case PT_INTERP:
		image->has_interpreter = true;
		break;
	case PT_DYNAMIC:
		image->dynamic = start;
		image->dynamic_size = header->p_memsz;
		break;
	case PT_TLS:
		image->tls_image = start;
		image->tls_file_size = header->p_filesz;
		image->tls_memory_size = header->p_memsz;
		break;
	default:
		break;
	}
}

static int read_program_headers(struct elf_image *image, const Elf64_Ehdr *file)
{
	Elf64_Phdr headers[HEADERS_MAX];
	bool has_load = false;

	if (!file->e_phnum || file->e_phnum > HEADERS_MAX ||
	    file->e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	if (read_at(image, image->base + file->e_phoff, headers,
		    file->e_phnum * sizeof(Elf64_Phdr)))
		return -ENOEXEC;
	for (unsigned i = 0; i < file->e_phnum; i++) {
		if (headers[i].p_memsz > OBJECT_MAX || headers[i].p_filesz > headers[i].p_memsz)
			return -ENOEXEC;
		if (headers[i].p_type == PT_LOAD && !has_load) {
			image->bias = image->base -
				      ALIGN_DOWN(headers[i].p_vaddr - headers[i].p_offset, 4096);
			has_load = true;
		}
	}
	for (unsigned i = 0; i < file->e_phnum; i++)
		add_header(image, &headers[i]);
	return has_load ? 0 : -ENOEXEC;
}

/* glibc relocates the addresses in its own dynamic section, musl and the vdso do not. */
static uint64_t dynamic_address(const struct elf_image *image, uint64_t value)
{
	return value < image->bias ? image->bias + value : value;
}

static void read_dynamic_entry(struct elf_image *image, const Elf64_Dyn *entry)
{
	uint64_t address = dynamic_address(image, entry->d_un.d_ptr);

	switch (entry->d_tag) {
	case DT_SYMTAB:
		image->symbols = address;
		break;
	case DT_STRTAB:
		image->strings = address;
		break;
	case DT_STRSZ:
		image->strings_size = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		image->gnu_hash = address;
		break;
	case DT_HASH:
		image->sysv_hash = address;
		break;
	case DT_RELA:
		image->relocations = address;
		break;
	case DT_RELASZ:
		image->relocations_size = entry->d_un.d_val;
		break;
	case DT_DEBUG:
		image->debug = entry->d_un.d_ptr;
		break;
	default:
		break;
	}
}

/* Memory behind the last entry may not be mapped, whatever the header's size. */
static int read_entries(const struct elf_image *image, uint64_t from, uint64_t count,
			Elf64_Dyn *ret, uint64_t *ret_count)
{
	uint64_t address = image->dynamic + from * sizeof(*ret);

	*ret_count = MIN(count - from, (uint64_t)DYNAMIC_AT_ONCE);
	if (!read_at(image, address, ret, *ret_count * sizeof(*ret)))
		return 0;
	*ret_count = 1;
	return read_at(image, address, ret, sizeof(*ret));
}

static int read_dynamic(struct elf_image *image)
{
	uint64_t have, count = MIN(image->dynamic_size / sizeof(Elf64_Dyn), (uint64_t)DYNAMIC_MAX);
	Elf64_Dyn entries[DYNAMIC_AT_ONCE];

	for (uint64_t at = 0; at < count; at += have) {
		if (read_entries(image, at, count, entries, &have))
			return -ENOEXEC;
		for (uint64_t i = 0; i < have; i++) {
			if (entries[i].d_tag == DT_NULL)
				return 0;
			read_dynamic_entry(image, &entries[i]);
		}
	}
	return 0;
}

int elf_image_open(struct elf_image *ret, const struct memory_reader *memory, uint64_t base)
{
	Elf64_Ehdr file;
	int r;

	*ret = (struct elf_image){ .memory = memory, .base = base };
	r = read_at(ret, base, &file, sizeof(file));
	if (r)
		return r;
	if (memcmp(file.e_ident, ELFMAG, SELFMAG) || file.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file.e_machine != ARCH_ELF_MACHINE)
		return -ENOEXEC;
	r = read_program_headers(ret, &file);
	if (r)
		return r;
	return ret->dynamic ? read_dynamic(ret) : 0;
}

/* True when symbol `index` is defined and has this name; its address is returned. */
static bool symbol_matches(const struct elf_image *image, uint32_t index, const char *name,
			   struct elf_range *ret)
{
	char text[NAME_MAX_BYTES] = { 0 };
	size_t length = strlen(name) + 1;
	Elf64_Sym symbol;

	if (length > sizeof(text) ||
	    read_at(image, image->symbols + index * sizeof(symbol), &symbol, sizeof(symbol)))
		return false;
	if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= image->strings_size ||
	    length > image->strings_size - symbol.st_name)
		return false;
	if (read_at(image, image->strings + symbol.st_name, text, length) ||
	    memcmp(text, name, length))
		return false;
	*ret = (struct elf_range){ image->bias + symbol.st_value, symbol.st_size };
	return true;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

static int find_by_gnu_hash(const struct elf_image *image, const char *name, struct elf_range *ret)
{
	struct {
		uint32_t buckets, first, bloom_words, shift;
	} table;
	uint32_t hash = gnu_hash(name), index, link;
	uint64_t buckets, chains;

	if (read_at(image, image->gnu_hash, &table, sizeof(table)) || !table.buckets)
		return -ENOENT;
	buckets = image->gnu_hash + sizeof(table) + 8ull * table.bloom_words;
	chains = buckets + 4ull * table.buckets;
	if (read_at(image, buckets + 4ull * (hash % table.buckets), &index, sizeof(index)) ||
	    index < table.first)
		return -ENOENT;
	for (uint32_t i = 0; i < CHAIN_MAX; i++, index++) {
		if (read_at(image, chains + 4ull * (index - table.first), &link, sizeof(link)))
			return -ENOENT;
		if ((link | 1) == (hash | 1) && symbol_matches(image, index, name, ret))
			return 0;
		if (link & 1)
			return -ENOENT;
	}
	return -ENOENT;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t hash = 0;

	while (*name) {
		hash = (hash << 4) + (unsigned char)*name++;
		hash ^= hash >> 24 & 0xf0;
	}
	return hash & 0xfffffff;
}

static int find_by_sysv_hash(const struct elf_image *image, const char *name, struct elf_range *ret)
{
	uint32_t table[2], index;
	uint64_t buckets = image->sysv_hash + sizeof(table);

	if (read_at(image, image->sysv_hash, table, sizeof(table)) || !table[0])
		return -ENOENT;
	if (read_at(image, buckets + 4ull * (sysv_hash(name) % table[0]), &index, sizeof(index)))
		return -ENOENT;
	for (uint32_t i = 0; i < CHAIN_MAX && index && index < table[1]; i++) {
		if (symbol_matches(image, index, name, ret))
			return 0;
		if (read_at(image, buckets + 4ull * table[0] + 4ull * index, &index, sizeof(index)))
			return -ENOENT;
	}
	return -ENOENT;
}

int elf_image_symbol_range(const struct elf_image *image, const char *name, struct elf_range *ret)
{
	if (!image->symbols || !image->strings)
		return -ENOENT;
	if (image->gnu_hash)
		return find_by_gnu_hash(image, name, ret);
	return image->sysv_hash ? find_by_sysv_hash(image, name, ret) : -ENOENT;
}

int elf_image_symbol(const struct elf_image *image, const char *name, uint64_t *ret)
{
	struct elf_range range;
	int r = elf_image_symbol_range(image, name, &range);

	if (!r)
		*ret = range.start;
	return r;
}

int elf_image_tls_offset(const struct elf_image *image, int64_t *ret)
{
	Elf64_Rela some[RELOCATIONS_AT_ONCE], relocation;
	uint64_t word, count = image->relocations_size / sizeof(relocation);

	for (uint64_t at = 0; at < count; at++) {
		uint64_t index = at % RELOCATIONS_AT_ONCE;
		size_t size = MIN(count - at, (uint64_t)RELOCATIONS_AT_ONCE) * sizeof(relocation);

		if (!index &&
		    read_at(image, image->relocations + at * sizeof(relocation), some, size))
			return -ENOENT;
		relocation = some[index];
		if (ELF64_R_TYPE(relocation.r_info) != ARCH_TPOFF_RELOC ||
		    ELF64_R_SYM(relocation.r_info))
			continue;
		if (read_at(image, image->bias + relocation.r_offset, &word, sizeof(word)))
			return -ENOENT;
		*ret = (int64_t)(word - (uint64_t)relocation.r_addend);
		return 0;
	}
	return -ENOENT;
}

/* Instructions are where they may be: on machines that align them a word at a time is fastest. */
static const unsigned char *find_code(const unsigned char *chunk, size_t have, const void *bytes,
				      size_t size)
{
	uint32_t first, word;

	if (ARCH_CODE_ALIGNMENT != sizeof(first))
		return memmem(chunk, have, bytes, size);
	memcpy(&first, bytes, sizeof(first));
	for (size_t i = 0; i + size <= have; i += sizeof(word)) {
		memcpy(&word, chunk + i, sizeof(word));
		if (word == first && !memcmp(chunk + i, bytes, size))
			return chunk + i;
	}
	return NULL;
}

static int find_in_range(const struct elf_image *image, struct elf_range range, const void *bytes,
			 size_t size, uint64_t *ret)
{
	unsigned char chunk[CHUNK];

	if (range.start % ARCH_CODE_ALIGNMENT)
		return -ENOENT;
	/* Each chunk begins again with the last of the one before, aligned. */
	for (uint64_t at = 0; at + size <= range.size; at += CHUNK - ALIGN_UP(size, 8)) {
		size_t have = MIN((uint64_t)CHUNK, range.size - at);
		const unsigned char *hit;

		if (read_at(image, range.start + at, chunk, have))
			return -ENOENT;
		hit = find_code(chunk, have, bytes, size);
		if (hit) {
			*ret = range.start + at + (uint64_t)(hit - chunk);
			return 0;
		}
	}
	return -ENOENT;
}

int elf_image_find(const struct elf_image *image, const void *bytes, size_t size, uint64_t *ret)
{
	for (unsigned i = 0; i < image->code_count; i++)
		if (!find_in_range(image, image->code[i], bytes, size, ret))
			return 0;
	return -ENOENT;
}
