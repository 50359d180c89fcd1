/*
 * Fuzzes the interpreter of seccomp filters: the bytes are one program.  It is private to the
 * injector, so its source is part of this target, and the kernel that hands out filters is played
 * here.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <string.h>

#define ptrace played_ptrace
#include "injector/seccomp.c"
#undef ptrace

static struct {
	struct sock_filter code[BPF_MAXINSNS];
	unsigned count;
} played;

long played_ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	unsigned long index;

	va_start(arguments, request);
	(void)va_arg(arguments, pid_t);
	index = va_arg(arguments, unsigned long);
	if (!index)
		memcpy(va_arg(arguments, void *), played.code,
		       played.count * sizeof(played.code[0]));
	va_end(arguments);
	errno = ENOENT;
	return index ? -1 : (long)played.count;
}

int job_fail(struct job *job, enum job_status status, int error)
{
	job->status = status;
	job->error = error;
	return -1;
}

/* True when every call that attaching needs is allowed, asked one by one. */
static bool all_allow(void)
{
	for (size_t i = 0; i < needs_count; i++) {
		struct seccomp_data data = { .nr = (int)needs[i].nr, .arch = ARCH_AUDIT };
		uint32_t action;

		memcpy(data.args, needs[i].args, sizeof(data.args));
		action = filter_run(played.code, played.count, &data) & SECCOMP_RET_ACTION_FULL;
		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG &&
		    !(needs[i].may_fail && action == SECCOMP_RET_ERRNO))
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct stopped stopped;
	static struct job job;
	int r;

	played.count = (unsigned)MIN(size / sizeof(played.code[0]), (size_t)BPF_MAXINSNS);
	if (played.count)
		memcpy(played.code, bytes, played.count * sizeof(played.code[0]));
	job.status = JOB_NOT_RUN;
	job.needs = UINT32_MAX;
	stopped.job = &job;
	r = seccomp_check(&stopped);
	must((r == 0) == all_allow());
	must(r == 0 || (job.status == JOB_SECCOMP && strcmp(needs_name(job.nr), "?") != 0));
	return 0;
}
