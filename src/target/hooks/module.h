/*
 * A loaded module as its own dynamic section describes it: what it imports, and where.  Read under
 * the loader's lock (in a callback of dl_iterate_phdr), while the module cannot go away.
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
	uint64_t key; /* the address of its dynamic section: no other module's while it is loaded */
	const Elf64_Phdr *headers;
	size_t header_count;
	const Elf64_Sym *symbols;
	const char *strings;
	size_t first_defined;      /* symbols before are imported ones */
	const uint32_t *hash;      /* the table by which its symbols are found */
	const uint32_t *sysv_hash; /* the older one; NULL: not there */
	const Elf64_Half *versions;
	const Elf64_Verneed *needed_versions;
	size_t needed_version_count;
	struct module_relocations relocations[2]; /* of calls, of data */
	uint64_t data, data_end;                  /* what was writable when it was loaded */
	uint64_t relro, relro_end;                /* the part that is read-only since */
};

/* False for what has no dynamic section that one could use. */
bool module_read(const struct dl_phdr_info *info, uint64_t page_size, struct loaded_module *ret);

/* The version that an imported symbol must have; NULL: any. */
const char *module_version(const struct loaded_module *module, size_t symbol);

/* One of the functions that it offers to others; NULL: it offers none. */
const Elf64_Sym *module_export(const struct loaded_module *module);

/* The symbol of this name that it has for others; NULL. */
const Elf64_Sym *module_symbol(const struct loaded_module *module, const char *name);

/* Can this symbol be found in it? */
bool module_exports(const struct loaded_module *module, const char *symbol);

/* Does the address lie in its code? */
bool module_has_code(const struct loaded_module *module, uint64_t address);
