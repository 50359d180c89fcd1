/*
 * The loader's functions, each serialized with the program's forks (target/runtime/forks.h).  Like
 * libc's, except that a failure leaves no message for dlerror.
 */
#pragma once

#include "target/runtime/forks.h"

#include <dlfcn.h>
#include <stdbool.h>

/* Around a call, or around making a descriptor and noting it, as a child of fork closes the noted
 * ones: delays forks of the program briefly.  Ends with forks_release(). */
struct fork_work forks_begin(void);

void *loader_open(const char *path, int flags);
void loader_close(void *handle);
void *loader_symbol(void *scope, const char *name);
bool loader_find_module(const void *address, Dl_info *ret);
