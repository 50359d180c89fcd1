/*
 * What all samplers need: their limits, how stacks end, and the processes of a family, which grows
 * meanwhile.
 */
#include "host/sampling/sampler.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/process/forks/descendants.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CODE_IS_GONE  "record again: the stack was being changed, or its code was unmapped"
#define END_OF_THREAD "nothing: the thread was ending, or is one of the kernel's"

/* The text for each end, and the fix.  A sampler in use is no fix: where `fix` is another sampler,
 * the with_* texts have what remains to do with that one. */
static const struct {
	const char *name, *fix;
	const char *with_bpf, *with_copy, *with_all; /* NULL: `fix`; of with_all: that with bpf */
} ends[STACK_ENDS] = {
	[STACK_COMPLETE] = { "complete", "" },
	[STACK_CUT] = { "cut: too deep", "nothing: the innermost 1024 frames are kept" },
	[STACK_NO_MAP] = { "no code mapped there", CODE_IS_GONE,
			   .with_bpf = "--sampler copy, which hears of code that is mapped for a "
				       "moment only, as in processes that end at once",
			   .with_all = CODE_IS_GONE },
	[STACK_NO_TABLE] = { "no unwind information",
			     "compile it with frame pointers, or let its runtime keep them" },
	[STACK_NO_RULE] = { "rule too complex", "compile that code with -fno-omit-frame-pointer" },
	[STACK_UNREADABLE] = { "stack memory not readable", "--sampler bpf, which reads all of it",
			       .with_bpf = "record again: it was paged out, or being unmapped",
			       .with_all = "limpet record -p PID, which reads more of it" },
	[STACK_CIRCULAR] = { "stack goes in circles", "record again: the stack was being changed" },
	[STACK_NO_USER] = { "no user stack",
			    "--sampler bpf or copy, which see stacks of running threads, too",
			    .with_bpf = END_OF_THREAD, .with_copy = END_OF_THREAD },
	[STACK_GENERATED] = { "ended in JIT code",
			      "have the runtime that compiled it keep frame pointers" },
	[STACK_ZERO] = { "ended in 0 before the start of the program or thread",
			 "compile that code with -fno-omit-frame-pointer" },
	[STACK_SWITCHED] = { "a runtime switched stacks there",
			     "--sampler bpf follows most of them",
			     .with_bpf = "nothing: where this runtime keeps the other stack is "
					 "not known" },
	[STACK_UNLINKED] = { "callers missing: code without frame pointers",
			     "a larger --ring-size, which has room for copies of stacks; else "
			     "compile that code with -fno-omit-frame-pointer" },
	[STACK_CALLER] = { "only the direct caller was recorded",
			   "record with --alloc-stacks, --alloc-sample, --io-stacks or --lock-stacks" },
	[STACK_NO_PYTHON] = { "frames of Python not read yet",
			      "nothing: a thread's first stacks come before limpet has found its "
			      "state of Python" },
	[STACK_UNREAD] = { "its process was gone, or not read, before its code was known",
			   "nothing: it ended before limpet could read it",
			   .with_bpf = "--sampler copy, for processes this short",
			   .with_all = "limpet record -- CMD, or -p with --children, for processes "
				       "this short" },
};

const char *stack_end_name(enum stack_end end)
{
	return end < STACK_ENDS ? ends[end].name : "unknown";
}

const char *stack_end_fix(enum stack_end end, const char *sampler, bool is_system_wide)
{
	const char *fix = NULL;

	if (end >= STACK_ENDS)
		return "";
	if (is_system_wide)
		fix = ends[end].with_all;
	if (!fix && !strcmp(sampler, "bpf"))
		fix = ends[end].with_bpf;
	if (!fix && !strcmp(sampler, "copy"))
		fix = ends[end].with_copy;
	return fix ? fix : ends[end].fix;
}

/* A shorter note would be useless. */
#define LIMIT_BYTES_MIN 32u

void sampler_limit(struct sampler *sampler, const char *format, ...)
{
	size_t length = strlen(sampler->limits), room = sizeof(sampler->limits) - length;
	char limit[SAMPLER_LIMITS_MAX], added[SAMPLER_LIMITS_MAX + 2];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(limit, sizeof(limit), format, arguments);
	va_end(arguments);
	if (strstr(sampler->limits, limit) || room < LIMIT_BYTES_MIN)
		return;
	snprintf(added, sizeof(added), "%s%s", length ? "; " : "", limit);
	text_shorten(added, room - 1);
	memcpy(sampler->limits + length, added, strlen(added) + 1);
}

#define SCANS_MAX 16

/* A process that ends meanwhile is skipped. */
int family_join(struct sampler *sampler, pid_t root, family_joiner *join, struct err *err)
{
	unsigned joined = 1, failed = 0;
	struct err why = { 0 };
	int r = 0;

	for (unsigned scan = 0; !r && joined && scan < SCANS_MAX; scan++) {
		CLEANUP(free) pid_t *pids = NULL;
		size_t count = 0;

		joined = failed = 0;
		r = descendants_list(root, &pids, &count, err);
		for (size_t i = 0; !r && i < count; i++) {
			struct err refusal = { 0 };
			int result = join(sampler, pids[i], &refusal);

			joined += result > 0;
			if (result < 0 && result != -ESRCH && !failed++)
				why = refusal;
		}
	}
	if (!r && failed)
		sampler_limit(sampler, "%u of its descendants cannot be sampled: %s", failed,
			      why.what);
	return r;
}

int family_join_all(struct sampler *sampler, const struct sampler_options *options,
		    family_joiner *join, struct err *err)
{
	int r = options->children ? family_join(sampler, options->pid, join, err) : 0;

	for (size_t i = 0; r >= 0 && i < options->further_count; i++) {
		r = join(sampler, options->further[i], err);
		if (r >= 0 && options->children)
			r = family_join(sampler, options->further[i], join, err);
	}
	return MIN(r, 0);
}
