/*
 * A domain: a kind of call that can be traced.  To add one: a file, a line in domains.c, a line in
 * the build, a test.
 */
#pragma once

#include "target/hooks/hook.h"

/* What the host asked for, from the text of LIMPET_TRACE. */
struct trace_request {
	bool is_wanted[DOMAINS];
	bool all_locks;        /* also those that nobody held */
	bool alloc_stacks;     /* the call stack of every allocation */
	bool asks_number;      /* libc does not know the number of every thread */
	uint64_t alloc_sample; /* bytes from one sample to the next; 0: every call */
	const char *text;      /* "alloc;io;function=libfoo.so:bar*;..." */
};

struct domain {
	const char *name;
	const struct traced *traced;
	size_t traced_count;
	/* Prepares for a session; NULL: nothing to prepare.  False when that was not possible. */
	bool (*start)(const struct trace_request *request);
};

/* By enum trace_domain; NULL: comes with another. */
extern const struct domain *const domains[DOMAINS];

extern const struct domain domain_alloc, domain_io, domain_lock, domain_function, domain_marker;
extern const struct domain domain_hip_runtime, domain_hip_compiler, domain_hsa_core, domain_hsa_amd,
	domain_hsa_image, domain_hsa_finalizer, domain_rccl;
extern const struct domain domain_kernel, domain_copy, domain_memory, domain_scratch;

/* libc's functions by name, for those that call more than they were called for; set before start.
 */
typedef void *domain_symbol(const char *name);
extern domain_symbol *domain_find_symbol;

/* Reads the text; words that it does not know are skipped. */
void request_read(const char *text, struct trace_request *ret);
/* The next part of the text between semicolons; false at the end.  Starts with length 0. */
bool request_next(const char **part, size_t *length);
