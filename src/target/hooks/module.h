/*
 * Reads a loaded module's dynamic section: its imports, and their entries. Runs under the loader's
 * lock (in a callback of dl_iterate_phdr), while the module cannot be unloaded.
 */
#pragma once

#include "shared/base/macros.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>

struct module_relocations {
	const Elf64_Rela *items;
	size_t count;
};

struct loaded_module {
	const char *name; /* the last part of its path */
	uint64_t bias;
	uint64_t key; /* address of its dynamic section: unique while it is loaded */
	const Elf64_Phdr *headers;
	size_t header_count;
	const Elf64_Sym *symbols;
	const char *strings;
	size_t first_defined;      /* symbols before this one are imports */
	const uint32_t *hash;      /* DT_GNU_HASH */
	const uint32_t *sysv_hash; /* DT_HASH; NULL: not there */
	const Elf64_Half *versions;
	const Elf64_Verneed *needed_versions;
	size_t needed_version_count;
	struct module_relocations relocations[2]; /* PLT, data */
	uint64_t data, data_end;                  /* the writable segment, when it was loaded */
	uint64_t relro, relro_end;                /* its part that is read-only after relocation */
};

/* False if there is no usable dynamic section. */
bool module_read(const struct dl_phdr_info *info, uint64_t page_size, struct loaded_module *ret);

/* The version that an imported symbol requires; NULL: any. */
const char *module_version(const struct loaded_module *module, size_t symbol);

/* One exported function; NULL: there is none. */
const Elf64_Sym *module_export(const struct loaded_module *module);

/* The exported symbol of this name, or NULL. */
const Elf64_Sym *module_symbol(const struct loaded_module *module, const char *name);

/* True if the module exports the symbol. */
bool module_exports(const struct loaded_module *module, const char *symbol);

/* True if the address lies in the module's code. */
bool module_has_code(const struct loaded_module *module, uint64_t address);
