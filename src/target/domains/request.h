/*
 * The host's request, parsed from the text in its rings.
 */
#pragma once

#include "shared/wire/domains.h"

/* Finds a libc function by name. */
typedef void *symbol_finder(const char *name);

struct trace_request {
	bool is_wanted[DOMAINS];
	bool all_locks;    /* including locks acquired without waiting */
	bool alloc_stacks; /* the call stack of every allocation */
	bool io_stacks, lock_stacks;
	bool asks_number;      /* libc does not know every thread's ID */
	bool address_entries;  /* also calls through GOT entries whose value the application uses */
	uint64_t alloc_sample; /* bytes from one sample to the next; 0: every call */
	const char *text;      /* "alloc;io;function=libfoo.so:bar*;..." */
	symbol_finder *find_symbol;
};

/* Parses the text; skips unknown parts. */
void request_read(const char *text, symbol_finder *find_symbol, struct trace_request *ret);
/* True if any of these domains is requested. */
bool request_wants(const struct trace_request *request, uint32_t domains);
/* The domains that a GPU runtime records, as bits: its calls, and what devices do. A request for
 * calls alone also selects all device work. */
uint32_t request_device_domains(const struct trace_request *request, enum trace_domain calls);
/* The domains of device work that every GPU runtime may record. */
#define DEVICE_WORK_DOMAINS 3
extern const enum trace_domain device_work[DEVICE_WORK_DOMAINS];
/* The next part of the text between semicolons; false at the end.  Starts with length 0. */
bool request_next(const char **part, size_t *length);
/* True if `word` is a part of the text. */
bool request_has(const struct trace_request *request, const char *word);
