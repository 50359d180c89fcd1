/*
 * What the host asked for, from the text that comes with its rings.
 */
#pragma once

#include "shared/wire/domains.h"

/* libc's functions by name. */
typedef void *symbol_finder(const char *name);

struct trace_request {
	bool is_wanted[DOMAINS];
	bool all_locks;    /* also those that were free */
	bool alloc_stacks; /* the call stack of every allocation */
	bool io_stacks, lock_stacks;
	bool asks_number;      /* libc does not know the number of every thread */
	bool address_entries;  /* also calls through words whose value the program uses */
	uint64_t alloc_sample; /* bytes from one sample to the next; 0: every call */
	const char *text;      /* "alloc;io;function=libfoo.so:bar*;..." */
	symbol_finder *find_symbol;
};

/* Reads the text; words that it does not know are skipped. */
void request_read(const char *text, symbol_finder *find_symbol, struct trace_request *ret);
/* Is any of these domains asked for? */
bool request_wants(const struct trace_request *request, uint32_t domains);
/* The next part of the text between semicolons; false at the end.  Starts with length 0. */
bool request_next(const char **part, size_t *length);
/* Is this one of its parts? */
bool request_has(const struct trace_request *request, const char *word);
