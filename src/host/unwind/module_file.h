/*
 * The bytes behind a mapping: its file where that is unchanged, else the process's memory.
 */
#pragma once

#include "host/core/err.h"
#include "host/process/maps.h"

#define MODULE_PATH_MAX 320

struct module_file {
	int fd;                     /* -1: only in the process's memory */
	char path[MODULE_PATH_MAX]; /* opens it as long as limpet lives; "" for none */
	bool is_kept;               /* the path is that of the descriptor, which must stay open */
	bool is_deleted;
	uint64_t size, changed_ns; /* with device and inode: the file's version */
};

/* Cuts off the mark by which the kernel shows a file that was deleted; false: there is none. */
bool module_path_cut_deleted(char *path);
/* Never fails: the descriptor is -1 when only the process's memory has the bytes. */
void module_file_open(struct module_file *ret, pid_t pid, const struct mapping *mapping);
