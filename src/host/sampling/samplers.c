/*
 * The samplers, and the fallback from one to the next: the best one that the rights here allow.
 */
#include "host/core/text/text.h"
#include "host/process/rights/rights.h"
#include "host/process/status.h"
#include "host/sampling/sampler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct sampler_kind *const samplers[] = {
	&sampler_bpf, &sampler_copy, &sampler_read, &sampler_state, NULL,
};

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

/* With these codes another sampler may work; anything else is about the target, or an error. */
static bool is_refusal(int code)
{
	static const int codes[] = { -EPERM,  -EACCES, -ENOSYS, -EOPNOTSUPP,
				     -ENOENT, -EMFILE, -ENODEV, -EINVAL };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

static const struct sampler_kind *find_kind(const char *name)
{
	for (size_t i = 0; samplers[i]; i++)
		if (!strcmp(samplers[i]->name, name))
			return samplers[i];
	return NULL;
}

static int open_named(struct sampler **ret, const struct sampler_options *options, const char *name,
		      struct err *err)
{
	const struct sampler_kind *kind = find_kind(name);
	char names[128] = "";
	int r;

	if (kind) {
		r = kind->open(ret, options, err);
		return r < 0 ? err_while(err, "sampler '%s'", name) : 0;
	}
	for (size_t i = 0; samplers[i]; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", samplers[i]->name);
	err_set(err, -ENOENT, "unknown sampler '%s'", name);
	err_exit(err, EXIT_USAGE);
	return err_fix(err, "one of %s", names);
}

/* All other samplers need one process. */
static int open_system_wide(struct sampler **ret, const struct sampler_options *options,
			    const char *name, struct err *err)
{
	int r;

	if (name && strcmp(name, sampler_bpf.name) != 0) {
		err_set(err, -EINVAL, "the sampler '%s' cannot sample every process", name);
		err_fix(err, "leave --sampler out: %s does", sampler_bpf.name);
		return err_exit(err, EXIT_USAGE);
	}
	r = sampler_bpf.open(ret, options, err);
	if (r == -EPERM || r == -EACCES)
		err_fix(err, "%s; without these rights: -p PID, of a process of your own",
			rights_fix());
	return r;
}

static bool is_other_users(pid_t pid, const struct rights *rights, uid_t *ret_uid)
{
	struct process_status status;
	struct err ignored = { 0 };

	if (status_read(pid, pid, &status, &ignored))
		return false;
	*ret_uid = status.uid;
	return status.uid != rights->uid || status.euid != rights->uid;
}

/* `err` holds the refusal of the last sampler with stacks. */
static int refuse_states(const struct sampler_options *options, struct err *err)
{
	const struct err last = *err;
	struct rights rights;
	uid_t uid;

	rights_read(&rights);
	err_set(err, last.code, "its stacks cannot be read: %s", strerror(-last.code));
	if (is_other_users(options->pid, &rights, &uid))
		err_why(err,
			"it belongs to uid %u; limpet runs as uid %u without CAP_BPF and "
			"CAP_PERFMON, or CAP_SYS_PTRACE",
			uid, rights.uid);
	else
		err_why(err, "%s", last.why);
	err_fix(err, "%s\n--sampler state records what its threads do, without stacks",
		rights_fix());
	return err_exit(err, last.exit);
}

int sampler_choose(struct sampler **ret, const struct sampler_options *options, const char *name,
		   struct sampler_refusals *ret_refusals, struct err *err)
{
	int r = -ENOSYS;

	*ret_refusals = (struct sampler_refusals){ 0 };
	if (event_probe(options->event, err))
		return err->code;
	if (options->is_system_wide)
		return open_system_wide(ret, options, name, err);
	if (name)
		return open_named(ret, options, name, err);
	for (size_t i = 0; samplers[i]; i++) {
		struct err why = { 0 };

		if (samplers[i] == &sampler_state && options->needs_stacks)
			return refuse_states(options, err);
		r = samplers[i]->open(ret, options, &why);
		if (!r)
			why = (struct err){ 0 };
		*err = why;
		if (!r)
			return 0;
		if (!is_refusal(r))
			break;
		if (ret_refusals->count < SAMPLER_KINDS_MAX) {
			ret_refusals->items[ret_refusals->count].kind = samplers[i];
			ret_refusals->items[ret_refusals->count++].err = why;
		}
	}
	return r;
}

void sampler_close(struct sampler *sampler)
{
	if (sampler)
		sampler->kind->close(sampler);
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

static void explain_one(const struct sampler_kind *kind, const struct err *err, char *ret,
			size_t room)
{
	size_t length = strlen(ret);

	snprintf(ret + length, room - length, "%s: %s%s%s%s%s\n", kind->name, err->what,
		 err->why[0] ? ": " : "", err->why, err->fix[0] ? "; " : "", err->fix);
}

void sampler_explain(const struct sampler_refusals *refusals, const struct sampler *sampler,
		     char *ret, size_t room)
{
	size_t length;

	ret[0] = '\0';
	for (unsigned i = 0; i < refusals->count; i++)
		explain_one(refusals->items[i].kind, &refusals->items[i].err, ret, room);
	if (!sampler || !sampler->limits[0])
		return;
	length = strlen(ret);
	snprintf(ret + length, room - length, "%s: %s\n", sampler->kind->name, sampler->limits);
}
