/*
 * A method of sampling threads without stopping them.  A sampler is a file that ends in one of
 * these, and a line in the table of samplers.c, best first.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/core/err.h"
#include "host/sampling/event.h"

#include <stdbool.h>
#include <sys/types.h>

struct space;

struct sampler_options {
	pid_t pid;
	unsigned hz; /* 1 to 5000 */
	enum sampler_event event;
	bool on_cpu;         /* SAMPLE_RUNNING */
	bool off_cpu;        /* SAMPLE_BLOCKED, SAMPLE_RUNNABLE */
	bool kernel_frames;  /* where allowed */
	bool children;       /* also descendants, present and future */
	bool is_system_wide; /* all visible processes, instead of `pid`; on_cpu only */
	bool needs_stacks;   /* fail rather than fall back to "state", which has no stacks */
	/* Processes besides that one. */
	const pid_t *further;
	size_t further_count;
};

struct sampler_counts {
	uint64_t samples;
	uint64_t lost;             /* without room on their way */
	uint64_t left_out;         /* mappings and modules of code without room: stacks end there */
	uint64_t unlisted;         /* samples of processes beyond the limit of the list */
	uint32_t throttled;        /* at worst one in so many was kept; 0 and 1: all */
	uint64_t ends[STACK_ENDS]; /* how their stacks ended */
};

/* A process that is new, or executes another program now. */
struct sampled_process {
	pid_t pid, parent;
	const char *name; /* the kernel's, for one that may be gone; NULL: unknown */
	bool is_unread;   /* nothing more should be read of it */
};

/* sampler->drain() calls all of them, on its own thread. */
struct sampler_listener {
	/* space: the process's address space at that moment: host/unwind/space.h. */
	void (*sample)(void *context, const struct sample *sample, struct space *space);
	void (*process)(void *context, const struct sampled_process *process);
	void *context;
};

#define SAMPLER_LIMITS_MAX 1024u

struct sampler;

struct sampler_kind {
	const char *name;    /* "bpf" */
	const char *summary; /* one line for the user */
	/* Probes and starts.  -EPERM, -EACCES, -ENOSYS, -EOPNOTSUPP: this sampler is not available
	 * here; err names the missing right or feature and the command that gives it. */
	int (*open)(struct sampler **ret, const struct sampler_options *options, struct err *err);
	/* Handles what has arrived; called each 20 to 50 ms.  -ESRCH when the process has ended and
	 * all is handled. */
	int (*drain)(struct sampler *sampler, const struct sampler_listener *listener,
		     struct err *err);
	/* No new samples from now on; pending ones can still be drained. */
	void (*stop)(struct sampler *sampler);
	struct sampler_counts (*counts)(const struct sampler *sampler);
	void (*close)(struct sampler *sampler);
};

struct sampler {
	const struct sampler_kind *kind;
	char limits[SAMPLER_LIMITS_MAX]; /* what it cannot sample, and the fix; ""; see
					    sampler_limit() */
	bool is_prompt; /* drain() itself waits for samples, some 20 ms: call it again at once */
};

extern const struct sampler_kind sampler_bpf;  /* bpf.c: eBPF unwinds in the kernel */
extern const struct sampler_kind sampler_copy; /* copy.c: perf copies the stack, limpet unwinds */
extern const struct sampler_kind
	sampler_read; /* read.c: /proc and process_vm_readv, for blocked threads */
extern const struct sampler_kind sampler_state; /* read.c: states only */

/* Best first; ends with NULL. */
extern const struct sampler_kind *const samplers[];

#define SAMPLER_KINDS_MAX 8

/* Why the samplers before the chosen one are not available. */
struct sampler_refusals {
	struct {
		const struct sampler_kind *kind;
		struct err err;
	} items[SAMPLER_KINDS_MAX];
	unsigned count;
};

/* Opens the best available sampler, or the one of that name (NULL: the best).  -ENOENT: the name is
 * unknown. */
int sampler_choose(struct sampler **ret, const struct sampler_options *options, const char *name,
		   struct sampler_refusals *ret_refusals, struct err *err) MUST_CHECK;
void sampler_close(struct sampler *sampler);

/* Adds a limit of what it can sample, each once: several may apply, and some show only later. */
void sampler_limit(struct sampler *sampler, const char *format, ...) PRINTF_LIKE(2, 3);

/* Lines "sampler: reason": why no better one, and what this one cannot sample (NULL: no
 * sampler). */
void sampler_explain(const struct sampler_refusals *refusals, const struct sampler *sampler,
		     char *ret, size_t room);

/* How a stack ended, in a few words: "complete". */
const char *stack_end_name(enum stack_end end);
/* How to get such stacks complete, where the sampler of this name made them; "" for a complete
 * one. */
const char *stack_end_fix(enum stack_end end, const char *sampler, bool is_system_wide);

/* Begins to sample a process.  1: it is new; 0: it is sampled already; negative: it cannot be
 * sampled, see err. */
typedef int family_joiner(struct sampler *sampler, pid_t pid, struct err *err);

/* Joins the further processes of the options, each of which must succeed, and with children their
 * descendants and those of the first. */
int family_join_all(struct sampler *sampler, const struct sampler_options *options,
		    family_joiner *join, struct err *err) MUST_CHECK;

/* Joins each descendant, until no new one is found: a child of a sampled process inherits what it
 * needs, others are found in the next round.  sampler->limits names those that cannot be joined. */
int family_join(struct sampler *sampler, pid_t root, family_joiner *join,
		struct err *err) MUST_CHECK;
