/*
 * Calls like ppoll replace the thread's signal mask while they wait. Interrupting such a thread
 * restores its own mask for a moment, in which a signal blocked by the call's mask would be
 * delivered. So the thread is not stopped while one is pending. Checked before anything is done.
 */
#include "injector/injector.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static bool has_mask(const struct blocked_call *call)
{
	switch (call->nr) {
	case SYS_ppoll:
		return call->args[3];
	case SYS_pselect6:
		return call->args[5];
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return call->args[4];
	case SYS_rt_sigsuspend:
		return true;
	default:
		return false;
	}
}

static uint64_t mask_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtoull(at + strlen(label), NULL, 16) : 0;
}

bool signal_is_held_back(const struct job *job)
{
	char text[4096];

	if (!job->seen.is_known || !has_mask(&job->seen))
		return false;
	job_read_proc(job, "status", text, sizeof(text));
	return (mask_after(text, "SigPnd:") | mask_after(text, "ShdPnd:")) &
	       mask_after(text, "SigBlk:");
}
