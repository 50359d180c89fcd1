/*
 * /proc/PID/maps as values.  The text is foreign bytes: parsed with bounds, fuzzed.  Which GPU
 * runtimes a process has loaded.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/err.h"
#include "host/runtimes/runtimes.h"

#include <stdbool.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset, inode;
	unsigned dev_major, dev_minor;
	bool readable, writable, executable, shared;
	char path[256]; /* as the kernel shows it; "" for anonymous memory; cut when longer */
};

struct maps {
	struct mapping *items; /* ascending addresses */
	size_t count;
};

/* Parses the text of a maps file; -EBADMSG for a line that is invalid or out of order. */
int maps_parse(const char *text, size_t size, struct maps *ret, struct err *err) MUST_CHECK;
/* Empty for a kernel thread or a zombie.  -ESRCH when the process has ended, -EACCES without the
 * right. */
int maps_read(pid_t pid, struct maps *ret, struct err *err) MUST_CHECK;
void maps_done(struct maps *maps);

DEFINE_STRUCT_CLEANUP(maps, maps_done)

/* The mapping that holds an address, or NULL. */
const struct mapping *maps_at(const struct maps *maps, uint64_t address);

/* One bit for each enum runtime. */
unsigned runtimes_find(const struct maps *maps);

/* The path of a library that is mapped; NULL: it is not.  Valid as long as the maps. */
const char *runtime_library_path(const struct maps *maps, const struct runtime_library *library);
