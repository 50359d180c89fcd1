/*
 * What a process finds out about itself, for mirror.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Opens a library, which a visit must not keep. */
void facts_begin(void);

/* " name=value" for each thing that a thread can ask. */
void facts_of_thread(char *ret, size_t room);

/* The process's, line by line on standard output. */
void facts_print(void);
