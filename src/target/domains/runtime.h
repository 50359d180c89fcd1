/*
 * A runtime: a folder of domains/, which registers by one struct what it hooks for which domain,
 * what it has to say, and which numbers it gives to devices and queues.  To add one: a folder with
 * its struct, a line in tool/runtimes.c, lines in the build, a test (docs/howto/add-a-runtime.md).
 */
#pragma once

#include "shared/wire/ring.h"
#include "target/domains/request.h"
#include "target/hooks/got/got.h"
#include "target/hooks/notes.h"

/* What is imported for a domain.  Several runtimes may have something of the same one. */
struct domain_hooks {
	enum trace_domain domain;
	const struct traced *traced;
	size_t traced_count;
	/* Prepares for a session; NULL: nothing to prepare.  False when that was not possible. */
	bool (*start)(const struct trace_request *request);
	/* The same functions, for when only samples of their calls are wanted; NULL: likewise. */
	const struct traced *sampled;
};

/* Numbers that a runtime gives to its devices, queues and streams: no other gives them. */
struct number_range {
	uint32_t first, count;
};

/* All functions but two on threads of ours, one at a time; each may be NULL. */
struct runtime {
	const char *name;
	const struct domain_hooks *const *hooks;
	size_t hook_count;
	const struct note *notes;
	size_t note_count;
	struct number_range numbers;

	/* Prepares for a session; false when that was not possible. */
	bool (*start)(const struct trace_request *request);
	/* Hooks what does not come with imports, and counts it. */
	void (*look)(bool have_modules_changed, struct got_report *report);
	/* After each look: asks the runtime itself, which may wait for a thread of the program's.
	 */
	void (*ask)(struct got_report *report);
	/* Does what is due, as often as it says: in how many nanoseconds again, UINT64_MAX: not. On
	 * the watching thread, which may come later. */
	uint64_t (*tick)(uint64_t now_ns);
	/* At the end, before and after all words are put back: waits for what devices still do, and
	 * tells what is left. */
	void (*stop)(struct rings *rings);
	void (*drain)(struct rings *rings);
	/* In exit(), on the program's thread, while everything is there still: waits for a short
	 * while for what devices have yet to tell of what they have done. */
	void (*leave)(void);
	/* Likewise, after all that the program does in exit(): tells what did not come to an end,
	 * and asks no runtime for anything. */
	void (*give_up)(void);
	/* In a forked child. */
	void (*forget)(void);
};
