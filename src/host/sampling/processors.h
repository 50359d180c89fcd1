/*
 * The processors of this machine.  Their numbers may have gaps: some are offline, or do not exist.
 */
#pragma once

#include <stddef.h>

#define PROCESSORS_MAX 4096u

/* The numbers in a list such as "0-3,5", up to capacity. */
size_t processors_parse(const char *list, size_t size, int *cpus, size_t capacity);
/* Those online; where the kernel does not list them, as many as there are, from 0 on. */
size_t processors_online(int *cpus, size_t capacity);
