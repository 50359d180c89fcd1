/*
 * Loads a library from a descriptor inside the target.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

#define LOAD_FOLDER_MAX 48

/* The calling thread's descriptors as a directory, for a thread with another table. False: there is
 * no /proc, or a filter forbids the call. */
bool load_name_folder(char ret[LOAD_FOLDER_MAX]);

/*
 * dlopen of the file behind `fd`, or, for roots without /proc, of LIBRARY_LINK in the directory
 * behind it, under a path that this process has not used before: glibc compares names, and a closed
 * descriptor's number is reused. `spelling` differs for each load of one control thread. `folder`
 * is empty if the descriptor is the calling thread's. Returns the handle or NULL; then dlerror()
 * has the reason.
 */
void *load_from_fd(const struct boot_libc *libc, const char *folder, int fd, bool is_directory,
		   unsigned spelling);

/* Copies dlerror() into text. */
void load_error(const struct boot_libc *libc, char *text, size_t room);
