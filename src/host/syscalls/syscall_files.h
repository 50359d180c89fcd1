/*
 * The files of one process, as numbers with names: its descriptors, and paths in calls.  The name
 * is the path of its open call; if that was not traced, the kernel's /proc is read at the first
 * call.
 */
#pragma once

#include "host/collect/sockets.h"
#include "host/core/table.h"

#include <sys/types.h>

#define SYSCALL_FILES_MAX     65536u /* further ones have no number */
#define SYSCALL_FILE_NAME_MAX 512u

struct syscall_files {
	pid_t pid;
	struct table numbers;     /* (hash, length) of a name: its number */
	struct table descriptors; /* (descriptor, 0): the number of its file */
	struct sockets sockets;
	bool has_sockets; /* requested already */
};

struct syscall_file {
	uint64_t number; /* from 1; 0: none */
	bool is_new;     /* its name is not in the recording yet: */
	char name[SYSCALL_FILE_NAME_MAX];
};

/* Begins as { .pid = PID }.  Each 0 or -ENOMEM. */
int syscall_files_name(struct syscall_files *files, const char *name,
		       struct syscall_file *ret) MUST_CHECK;
int syscall_files_find(struct syscall_files *files, int32_t descriptor,
		       struct syscall_file *ret) MUST_CHECK;

/* A descriptor was made; number 0: by a call that names no file. */
int syscall_files_opened(struct syscall_files *files, int32_t descriptor,
			 uint64_t number) MUST_CHECK;
/* Forgets a closed descriptor; -1: an unknown number of them was closed. */
void syscall_files_closed(struct syscall_files *files, int32_t descriptor);
void syscall_files_done(struct syscall_files *files);
