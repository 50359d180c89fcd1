/*
 * librocprofiler-sdk-rocattach.so.1: many processes at a time.  Runs in the caller: no ptrace, no
 * children that it could see.
 */
#include <rocprofiler-sdk-rocattach/rocattach.h>

#include "sessions.h"

#include "shared/base/macros.h"

#define EXPORT __attribute__((visibility("default")))

/* Of the interface, not of limpet. */
static const rocattach_version_triplet_t interface_version = { 1, 0, 0 };

#define STATUS(name, text)          \
	[ROCATTACH_##name] = {      \
		"ROCATTACH_" #name, \
		text,               \
	}

static const struct {
	const char *name, *text;
} statuses[] = {
	STATUS(STATUS_SUCCESS, "Success"),
	STATUS(STATUS_ERROR, "General error"),
	STATUS(STATUS_ERROR_INVALID_ARGUMENT, "Invalid function argument"),
	STATUS(STATUS_ERROR_NOT_SUPPORTED, "Attachment not supported on this platform"),
	STATUS(STATUS_ERROR_PTRACE_ERROR, "General ptrace error"),
	STATUS(STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED,
	       "ptrace returned EPERM, operation not permitted"),
	STATUS(STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND, "ptrace returned ESRCH, no such process"),
};

static rocattach_status_t session_begin(int pid, bool with_children)
{
	struct outcome outcome;
	struct session *session = sessions_add(pid, &outcome);

	if (!session)
		return outcome_tell(&outcome);
	if (visit_begin(&session->visit, pid, with_children, &outcome))
		sessions_drop(session);
	else
		sessions_keep(session);
	return outcome_tell(&outcome);
}

static rocattach_status_t end_session(struct session *session)
{
	struct outcome outcome;

	visit_end(&session->visit, &outcome);
	sessions_drop(session);
	return outcome_tell(&outcome);
}

/* Returns the last failure; each was printed. */
static rocattach_status_t end_all(void)
{
	rocattach_status_t worst = ROCATTACH_STATUS_SUCCESS;
	struct session *session;

	while ((session = sessions_take(0))) {
		rocattach_status_t status = end_session(session);

		if (status)
			worst = status;
	}
	return worst;
}

static rocattach_status_t session_end(int pid)
{
	struct outcome outcome;
	struct session *session;

	if (pid == 0)
		return end_all();
	session = sessions_take(pid);
	if (session)
		return end_session(session);
	outcome_set(&outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT, "not attached to %d", pid);
	return outcome_tell(&outcome);
}

EXPORT rocattach_status_t rocattach_attach(int pid)
{
	return session_begin(pid, false);
}

EXPORT rocattach_status_t rocattach_detach(int pid)
{
	return session_end(pid);
}

EXPORT rocattach_status_t rocattach_attach_tree(int pid)
{
	return session_begin(pid, true);
}

EXPORT rocattach_status_t rocattach_detach_tree(int pid)
{
	return session_end(pid);
}

EXPORT rocattach_status_t rocattach_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
	if (major)
		*major = interface_version.major;
	if (minor)
		*minor = interface_version.minor;
	if (patch)
		*patch = interface_version.patch;
	return ROCATTACH_STATUS_SUCCESS;
}

EXPORT rocattach_status_t rocattach_get_version_triplet(rocattach_version_triplet_t *version)
{
	if (!version)
		return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
	*version = interface_version;
	return ROCATTACH_STATUS_SUCCESS;
}

EXPORT const char *rocattach_get_status_name(rocattach_status_t status)
{
	return (unsigned)status < ARRAY_SIZE(statuses) ? statuses[status].name : NULL;
}

EXPORT const char *rocattach_get_status_string(rocattach_status_t status)
{
	return (unsigned)status < ARRAY_SIZE(statuses) ? statuses[status].text : NULL;
}
