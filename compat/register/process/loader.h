/*
 * The loader's functions, each in turn with the program's forks (target/runtime/forks.h).  As those
 * of libc, but that a failure leaves no message behind which the program would find.
 */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>

void *loader_open(const char *path, int flags);
void loader_close(void *handle);
void *loader_symbol(void *scope, const char *name);
bool loader_find_module(const void *address, Dl_info *ret);
