/*
 * libc functions that acquire a lock of the loader or of libc which a child of fork would get
 * locked. Only this file calls these in a target: each call takes its turn with the target's forks
 * (forks.h). Any thread; if the loader's lock is held, the caller waits for it.
 *
 * dl_iterate_phdr holds a lock of the loader while it calls back, and the other functions wait for
 * another lock, which a thread in dlopen holds while it waits for the first. So inside such a
 * callback they do nothing: they return as if nothing was found, and count the call.
 * tools/check-loader.py checks that no callback calls them.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/forks.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

/* Called first, and at each attach; with another copy's turn if there is one. */
void libc_calls_use(const struct boot_libc *libc, struct fork_turn *shared);

/* Before glibc 2.34, and with musl, some are missing: these return as if nothing was found. */
void *libc_open(const char *path, int flags);
int libc_close(void *handle);
void *libc_symbol(void *scope, const char *name);
void *libc_symbol_of_version(void *scope, const char *name, const char *version);
int libc_find_module(const void *address, Dl_info *ret);
int libc_find_symbol(const void *address, Dl_info *ret, void **ret_extra, int flags);
/* A handle of the module with the address, for libc_close(), or NULL. By the loader's own name of
 * the module: opens no file. */
void *libc_hold(const void *address);
/* True if both lie in one module. */
bool libc_are_of_one(const void *a, const void *b);
int libc_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data);
bool libc_can_iterate(void);
/* True if the calling thread is in a callback of libc_iterate(). */
bool libc_is_walking(void);
/* The number of calls refused for that reason. */
uint32_t libc_refused(void);

/* __cxa_atexit, __cxa_finalize. */
int libc_at_exit(void (*function)(void *), void *argument, void *dso_handle);
void libc_finalize(void *dso_handle);

/* unsetenv. */
int libc_unset(const char *name);
