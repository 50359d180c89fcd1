/*
 * Runs on limpet's threads.
 */
#include "target/hooks/module.h"

#include "target/runtime/text.h"

#define VERSION_MASK 0x7fffu

/* Words of DT_GNU_HASH: a head, a filter of 64-bit words, buckets, chains. */
enum {
	HASH_BUCKETS,
	HASH_FIRST, /* the first exported symbol */
	HASH_FILTER,
	HASH_HEAD = 4,
};

static const char *last_part(const char *path)
{
	const char *last = path;

	for (; *path; path++)
		if (*path == '/')
			last = path + 1;
	return last;
}

/* glibc adds the bias to the addresses if the section is writable. */
static uint64_t address_of(const struct loaded_module *module, const Elf64_Dyn *entry)
{
	uint64_t address = entry->d_un.d_ptr;

	return address < module->bias ? address + module->bias : address;
}

static void read_entry(struct loaded_module *self, const Elf64_Dyn *entry)
{
	uint64_t address = address_of(self, entry), value = entry->d_un.d_val;

	switch (entry->d_tag) {
	case DT_SYMTAB:
		self->symbols = (const Elf64_Sym *)address;
		break;
	case DT_STRTAB:
		self->strings = (const char *)address;
		break;
	case DT_GNU_HASH:
		self->hash = (const uint32_t *)address;
		self->first_defined = self->hash[HASH_FIRST];
		break;
	case DT_HASH:
		self->sysv_hash = (const uint32_t *)address;
		break;
	case DT_VERSYM:
		self->versions = (const Elf64_Half *)address;
		break;
	case DT_VERNEED:
		self->needed_versions = (const Elf64_Verneed *)address;
		break;
	case DT_VERNEEDNUM:
		self->needed_version_count = value;
		break;
	case DT_JMPREL:
		self->relocations[0].items = (const Elf64_Rela *)address;
		break;
	case DT_PLTRELSZ:
		self->relocations[0].count = value / sizeof(Elf64_Rela);
		break;
	case DT_RELA:
		self->relocations[1].items = (const Elf64_Rela *)address;
		break;
	case DT_RELASZ:
		self->relocations[1].count = value / sizeof(Elf64_Rela);
		break;
	default:
		break;
	}
}

static const Elf64_Phdr *find_header(const struct loaded_module *self, uint32_t type)
{
	for (size_t i = 0; i < self->header_count; i++)
		if (self->headers[i].p_type == type)
			return &self->headers[i];
	return NULL;
}

/* Rounds both ends down, like the loader. */
static void read_relro(struct loaded_module *self, uint64_t page_size)
{
	const Elf64_Phdr *header = find_header(self, PT_GNU_RELRO);

	if (!header)
		return;
	self->relro = ALIGN_DOWN(self->bias + header->p_vaddr, page_size);
	self->relro_end = ALIGN_DOWN(self->bias + header->p_vaddr + header->p_memsz, page_size);
}

static void read_data(struct loaded_module *self)
{
	for (size_t i = 0; i < self->header_count; i++) {
		const Elf64_Phdr *header = &self->headers[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_W))
			continue;
		self->data = self->bias + header->p_vaddr;
		self->data_end = self->data + header->p_memsz;
	}
}

bool module_read(const struct dl_phdr_info *info, uint64_t page_size, struct loaded_module *ret)
{
	const Elf64_Phdr *dynamic;

	*ret = (struct loaded_module){ .name = last_part(info->dlpi_name),
				       .bias = info->dlpi_addr,
				       .headers = info->dlpi_phdr,
				       .header_count = info->dlpi_phnum };
	dynamic = find_header(ret, PT_DYNAMIC);
	if (!dynamic)
		return false;
	ret->key = ret->bias + dynamic->p_vaddr;
	for (const Elf64_Dyn *at = (const Elf64_Dyn *)ret->key; at->d_tag != DT_NULL; at++)
		read_entry(ret, at);
	for (unsigned i = 0; i < ARRAY_SIZE(ret->relocations); i++)
		if (!ret->relocations[i].items)
			ret->relocations[i].count = 0;
	read_data(ret);
	read_relro(ret, page_size);
	return ret->symbols && ret->strings;
}

const char *module_version(const struct loaded_module *module, size_t symbol)
{
	const char *at = (const char *)module->needed_versions;
	Elf64_Half wanted = module->versions ? module->versions[symbol] & VERSION_MASK : 0;

	for (size_t i = 0; at && wanted > 1 && i < module->needed_version_count; i++) {
		const Elf64_Verneed *file = (const Elf64_Verneed *)at;
		const char *auxiliary = at + file->vn_aux;

		for (unsigned j = 0; j < file->vn_cnt; j++) {
			const Elf64_Vernaux *version = (const Elf64_Vernaux *)auxiliary;

			if ((version->vna_other & VERSION_MASK) == wanted)
				return module->strings + version->vna_name;
			auxiliary += version->vna_next;
		}
		at += file->vn_next;
	}
	return NULL;
}

static bool module_defines_at(const struct loaded_module *module, size_t index, const char *name)
{
	const Elf64_Sym *symbol = &module->symbols[index];

	return symbol->st_shndx != SHN_UNDEF && text_equal(module->strings + symbol->st_name, name);
}

static const Elf64_Sym *find_in_hash(const struct loaded_module *module, const char *name)
{
	const uint32_t *table = module->hash;
	const uint32_t *buckets = table + HASH_HEAD + 2 * (size_t)table[HASH_FILTER];
	const uint32_t *chains = buckets + table[HASH_BUCKETS];
	uint32_t hash = 5381, index;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	index = table[HASH_BUCKETS] ? buckets[hash % table[HASH_BUCKETS]] : 0;
	for (; index && index >= table[HASH_FIRST]; index++) {
		uint32_t chain = chains[index - table[HASH_FIRST]];

		if ((chain | 1) == (hash | 1) && module_defines_at(module, index, name))
			return &module->symbols[index];
		if (chain & 1)
			break;
	}
	return NULL;
}

/* Words: buckets, symbols; buckets, chains. */
static const Elf64_Sym *find_in_sysv_hash(const struct loaded_module *module, const char *name)
{
	for (uint32_t i = 1; i < module->sysv_hash[1]; i++)
		if (module_defines_at(module, i, name))
			return &module->symbols[i];
	return NULL;
}

const Elf64_Sym *module_symbol(const struct loaded_module *module, const char *name)
{
	if (module->hash)
		return find_in_hash(module, name);
	return module->sysv_hash ? find_in_sysv_hash(module, name) : NULL;
}

bool module_exports(const struct loaded_module *module, const char *symbol)
{
	return module_symbol(module, symbol) != NULL;
}

static bool is_export(const Elf64_Sym *symbol)
{
	return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
}

/* The last word of a chain is odd. */
static const Elf64_Sym *export_in(const struct loaded_module *module, const uint32_t *chains,
				  uint32_t index)
{
	for (; index >= module->first_defined; index++) {
		if (is_export(&module->symbols[index]))
			return &module->symbols[index];
		if (chains[index - module->first_defined] & 1)
			break;
	}
	return NULL;
}

const Elf64_Sym *module_export(const struct loaded_module *module)
{
	const uint32_t *buckets, *chains;
	const Elf64_Sym *found = NULL;

	if (!module->hash)
		return NULL;
	buckets = module->hash + HASH_HEAD + 2 * module->hash[HASH_FILTER];
	chains = buckets + module->hash[HASH_BUCKETS];
	for (uint32_t i = 0; !found && i < module->hash[HASH_BUCKETS]; i++)
		if (buckets[i])
			found = export_in(module, chains, buckets[i]);
	return found;
}

bool module_has_code(const struct loaded_module *module, uint64_t address)
{
	for (size_t i = 0; i < module->header_count; i++) {
		const Elf64_Phdr *header = &module->headers[i];

		if (header->p_type == PT_LOAD && header->p_flags & PF_X &&
		    address - module->bias - header->p_vaddr < header->p_memsz)
			return true;
	}
	return false;
}
