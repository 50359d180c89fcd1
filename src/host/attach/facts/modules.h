/*
 * The objects that the target's dynamic loader knows, from its own list.
 */
#pragma once

#include "host/attach/facts/target.h"

struct module {
	struct elf_image image;
	uint64_t link_map;
	const struct mapping *mapping; /* its first page */
};

struct modules {
	struct module *items; /* the executable first */
	size_t count;
};

/* Fails while the loader is still building its list. */
int modules_read(const struct target *target, struct modules *ret, struct err *err) MUST_CHECK;

/* The mappings and the loader's list are read one after the other, while both may change: reads
 * again with fresh mappings where they do not match. */
int modules_read_fresh(struct target *target, struct modules *ret, struct err *err) MUST_CHECK;
int modules_refuse(struct err *err); /* -EAGAIN, with the reason */
void modules_done(struct modules *modules);

/* The module whose header is at this address, or whose file name begins with this prefix; NULL. */
const struct module *modules_at(const struct modules *modules, uint64_t base);
const struct module *modules_named(const struct modules *modules, const char *prefix);

/* A symbol of the full symbol table in a module's file, for symbols that are not exported: glibc
 * before 2.34 has its descriptions for debuggers only there.  -ENOENT. */
int module_file_symbol(const struct target *target, const struct module *module, const char *name,
		       uint64_t *ret) MUST_CHECK;
