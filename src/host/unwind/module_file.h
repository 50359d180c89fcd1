/*
 * The bytes behind a mapping: its file where that is still the file, else the process's memory.
 */
#pragma once

#include "host/core/err.h"
#include "host/process/maps.h"

#define MODULE_PATH_MAX 320

struct module_file {
	int fd;                     /* -1: only the memory of the process has it */
	char path[MODULE_PATH_MAX]; /* what opens it as long as we live; "" for none */
	bool is_kept;               /* the path is that of the descriptor, which must stay open */
	bool is_deleted;
	uint64_t size, changed_ns; /* with device and inode: which state of the file it is */
};

/* Never fails: the descriptor is -1 when only memory has it. */
void module_file_open(struct module_file *ret, pid_t pid, const struct mapping *mapping);
