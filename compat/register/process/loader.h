/*
 * The loader's functions, each serialized with the program's forks (target/runtime/forks.h).  Like
 * libc's, except that a failure leaves no message for dlerror.
 */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>

void *loader_open(const char *path, int flags);
void loader_close(void *handle);
void *loader_symbol(void *scope, const char *name);
bool loader_find_module(const void *address, Dl_info *ret);
