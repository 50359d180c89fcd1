/*
 * A runtime: a folder of domains/ that registers one struct with its hooks by domain, its notes,
 * and the numbers of its devices and queues. To add one: a folder with its struct, a line in
 * tool/runtimes.c, lines in the build, a test (docs/howto/add-a-runtime.md).
 */
#pragma once

#include "shared/wire/ring.h"
#include "target/domains/request.h"
#include "target/hooks/got/got.h"
#include "target/hooks/notes.h"

/* The imports to hook for a domain. Several runtimes may hook functions of the same domain. */
struct domain_hooks {
	enum trace_domain domain;
	const struct traced *traced;
	size_t traced_count;
	/* Prepares for a session; may be NULL. False if that failed. */
	bool (*start)(const struct trace_request *request);
	/* The same functions when only samples of their calls are recorded; may be NULL. */
	const struct traced *sampled;
};

/* Numbers that only this runtime gives to its devices, queues and streams. */
struct number_range {
	uint32_t first, count;
};

/* limpet's threads call all but exit_begin() and exit_end(), one at a time; NULL: none. */
struct runtime {
	const char *name;
	const struct domain_hooks *const *hooks;
	size_t hook_count;
	const struct note *notes;
	size_t note_count;
	struct number_range numbers;

	/* Prepares for a session; false if that failed. */
	bool (*start)(const struct trace_request *request);
	/* Hooks what is not imported, and counts the hooks in the report. */
	void (*scan)(bool have_modules_changed, struct hooks_report *report);
	/* After each scan(): queries the runtime, which may wait for an application thread. */
	void (*query)(struct hooks_report *report);
	/* Does periodic work on the watching thread; returns the nanoseconds until the next call
	 * (which may be late), or UINT64_MAX for none. */
	uint64_t (*tick)(uint64_t now_ns);
	/* stop() before and drain() after all GOT entries are restored: wait for work in flight on
	 * devices, and write the remaining records. */
	void (*stop)(struct rings *rings);
	void (*drain)(struct rings *rings);
	/* In exit(), on the application's thread, before its exit handlers: waits briefly for
	 * records of work that devices have finished. */
	void (*exit_begin)(void);
	/* In exit(), after all exit handlers: writes unfinished work, and calls no runtime. */
	void (*exit_end)(void);
	/* In a forked child. */
	void (*forget)(void);
};
