/*
 * libc's functions that take a lock of the loader's, or of libc's own, which a child of fork does
 * not get back.  This is the one place where code in a target calls them: each call takes its turn
 * with the program's forks (forks.h).  Any thread; where the program's loader is busy, one waits
 * for it.
 *
 * dl_iterate_phdr holds a lock of the loader's while it calls back, and the others wait for another
 * one that a thread in dlopen has while it waits for the first.  So from such a callback they do
 * nothing: they answer as if nothing was found, and count it.  tools/check-loader.py sees to it
 * that no callback comes to them.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/forks.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

/* Before the first call, and again whenever somebody comes; with another's turn where there is one.
 */
void libc_calls_use(const struct boot_libc *libc, struct fork_turn *shared);

/* Before glibc 2.34, and with musl, not all are there: those answer as if nothing was found. */
void *libc_open(const char *path, int flags);
int libc_close(void *handle);
void *libc_symbol(void *scope, const char *name);
void *libc_symbol_of_version(void *scope, const char *name, const char *version);
int libc_find_module(const void *address, Dl_info *ret);
int libc_find_symbol(const void *address, Dl_info *ret, void **ret_extra, int flags);
/* A handle of the module that has the address, for libc_close(); NULL.  By the name that the loader
 * itself has for it: no file is looked for. */
void *libc_hold(const void *address);
/* Do both lie in one module? */
bool libc_are_of_one(const void *a, const void *b);
int libc_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data);
bool libc_can_iterate(void);
/* Is the calling thread in a callback of libc_iterate()? */
bool libc_is_walking(void);
/* How many calls were refused since it was. */
uint32_t libc_refused(void);

/* __cxa_atexit, __cxa_finalize. */
int libc_at_exit(void (*function)(void *), void *argument, void *dso_handle);
void libc_finalize(void *dso_handle);

/* unsetenv. */
int libc_unset(const char *name);
