/*
 * A domain: a kind of call that can be traced.  To add one: a file, a line in domains.c, a line in
 * the build, a test.
 */
#pragma once

#include "shared/wire/ring.h"
#include "target/hooks/got.h"

/* What the host asked for, from the text in the head of the rings (docs/tracing.md). */
struct trace_request {
	bool is_wanted[DOMAINS];
	bool all_locks;          /* also those that nobody held */
	bool alloc_stacks;       /* the call stack of every allocation */
	bool opencl_device_time; /* of queues that keep no times, by queues of ours */
	bool asks_number;        /* libc does not know the number of every thread */
	uint64_t alloc_sample;   /* bytes from one sample to the next; 0: every call */
	const char *text;        /* "alloc;io;function=libfoo.so:bar*;..." */
};

struct domain {
	const char *name;
	const struct traced *traced;
	size_t traced_count;
	/* Prepares for a session; NULL: nothing to prepare.  False when that was not possible. */
	bool (*start)(const struct trace_request *request);
	/* The same functions, for when only samples of their calls are wanted; NULL: likewise. */
	const struct traced *sampled;
};

/* By enum trace_domain. */
extern const struct domain *const domains[DOMAINS];

extern const struct domain domain_alloc, domain_io, domain_lock, domain_function, domain_marker,
	domain_opencl;
extern const struct domain domain_hip_runtime, domain_hip_compiler, domain_hsa_core, domain_hsa_amd,
	domain_hsa_image, domain_hsa_finalizer, domain_rccl;
extern const struct domain domain_kernel, domain_copy, domain_memory, domain_scratch;

/*
 * What GPU runtimes need beside the imports of their domains: a kind of runtime is hooked through
 * tables of its own, for several domains at once.  All on threads of ours, one at a time; each but
 * start and look may be NULL.
 */
struct gpu_runtime {
	/* Prepares for a session; false when that was not possible. */
	bool (*start)(const struct trace_request *request);
	/* Hooks what has come since, and counts it. */
	void (*look)(bool have_modules_changed, struct got_report *report);
	/* After each look: asks the runtime itself, which may wait for a thread of the program's.
	 */
	void (*ask)(struct got_report *report);
	/* At the end, before and after all words are put back: waits for what devices still do, and
	 * tells what is left. */
	void (*stop)(struct rings *rings);
	void (*drain)(struct rings *rings);
	/* In a forked child. */
	void (*forget)(void);
};

#define GPU_RUNTIMES 2
extern const struct gpu_runtime *const gpu_runtimes[GPU_RUNTIMES];
extern const struct gpu_runtime gpu_amd, gpu_opencl;

/* libc's functions by name, for those that call more than they were called for; set before start.
 */
typedef void *domain_symbol(const char *name);
extern domain_symbol *domain_find_symbol;

/* Reads the text; words that it does not know are skipped. */
void request_read(const char *text, struct trace_request *ret);
/* The next part of the text between semicolons; false at the end.  Starts with length 0. */
bool request_next(const char **part, size_t *length);
