/*
 * A domain: a kind of call that can be traced.  To add one: a file, a line in domains.c, a line in
 * the build, a test.
 */
#pragma once

#include "shared/wire/ring.h"
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
	/* For domains that hook more than imports; each may be NULL.  look: finds what is there, on
	 * a thread of ours, when modules have come and when has_news.  drain: all words are as they
	 * were; waits for what devices still do, and tells what is left.  forget: in a forked
	 * child. */
	void (*look)(bool have_modules_changed);
	bool (*has_news)(void);
	void (*drain)(struct rings *rings);
	void (*forget)(void);
};

/* By enum trace_domain; NULL: comes with another. */
extern const struct domain *const domains[DOMAINS];

extern const struct domain domain_alloc, domain_io, domain_lock, domain_function, domain_marker,
	domain_opencl;

/* libc's functions by name, for those that call more than they were called for; set before start.
 */
typedef void *domain_symbol(const char *name);
extern domain_symbol *domain_find_symbol;

/* Reads the text; words that it does not know are skipped. */
void request_read(const char *text, struct trace_request *ret);
/* The next part of the text between semicolons; false at the end.  Starts with length 0. */
bool request_next(const char **part, size_t *length);
