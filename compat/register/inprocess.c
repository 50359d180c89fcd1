/*
 * Attach and detach from within: by the program itself, or by AMD's attacher, which calls on the
 * thread "rocp-bg-attach".  Runs inside the target; arguments are foreign and copied first.  Never
 * prints: the reason is kept as a text.
 */
#include "compat/register/inprocess.h"

#include "compat/register/activation.h"
#include "compat/register/process/libc_functions.h"
#include "compat/register/process/loader.h"
#include "compat/register/sdk.h"
#include "compat/register/switches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REASON_MAX    512
#define NAME_BYTES    16 /* of a thread's name */
#define TURN_PAUSE_NS 1000000
#define TURN_PAUSES   5000u

typedef int attach_function(const struct boot_libc *libc, const char *environment,
			    const char *tools, char *text, size_t room);
typedef int detach_function(const struct boot_libc *libc, char *text, size_t room);

/* The copied arguments of an attach. */
struct request {
	char *environment; /* NULL: none */
	char *tools;
};

static struct request last;     /* of the last successful attach; see turn_acquire() */
static char reason[REASON_MAX]; /* its last byte is always 0 */
static uint32_t turn;           /* the process with an attach or detach in progress, or 0 */

/*
 * Copies of an attacher's arguments, read through the kernel, which fails instead of faulting: its
 * pointers may be garbage, and must not crash the process.
 */
#define STEP        4096u
#define GUARDED_MAX (1u << 20) /* bytes of one list of variables or tools */

/* A copy that grows. */
struct copy {
	const char *from;
	char *bytes;
	size_t size;
};

/* The next bytes, up to the end of a page: the next page may be unreadable. */
static bool read_more(struct copy *self)
{
	size_t step = STEP - ((uintptr_t)self->from + self->size) % STEP;
	char *grown =
		self->size + step <= GUARDED_MAX ? realloc(self->bytes, self->size + step) : NULL;
	struct iovec local, remote = { (void *)(uintptr_t)(self->from + self->size), step };

	if (!grown) {
		errno = E2BIG;
		return false;
	}
	self->bytes = grown;
	local = (struct iovec){ grown + self->size, step };
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)step)
		return false;
	self->size += step;
	return true;
}

/* Moves *at behind the next NUL; false when there is none to be had. */
static bool pass_text(struct copy *self, size_t *at)
{
	for (;; ++*at) {
		if (*at == self->size && !read_more(self))
			return false;
		if (!self->bytes[*at])
			break;
	}
	++*at;
	return true;
}

static char *give_up(struct copy *self, int error)
{
	free(self->bytes);
	errno = error;
	return NULL;
}

/* A text in memory of malloc.  NULL with errno: EFAULT when it cannot be read, EINVAL when it is
 * invalid, E2BIG when it is too long, EPERM where reading is forbidden. */
static char *guarded_text(const char *text)
{
	struct copy self = { .from = text };
	size_t at = 0;

	return pass_text(&self, &at) ? self.bytes : give_up(&self, errno);
}

/* One pair: a name without '=' that is not empty, and a value. */
static bool pass_pair(struct copy *self, size_t *at)
{
	size_t name = *at;

	if (!pass_text(self, at))
		return false;
	if (!self->bytes[name] || strchr(self->bytes + name, '=')) {
		errno = EINVAL;
		return false;
	}
	return pass_text(self, at);
}

/* The same of a list of variables: uint32_t count, then count times "name\0value\0". */
static char *guarded_variables(const char *buffer)
{
	struct copy self = { .from = buffer };
	uint32_t count;
	size_t at = sizeof(count);

	while (self.size < sizeof(count))
		if (!read_more(&self))
			return give_up(&self, errno);
	memcpy(&count, self.bytes, sizeof(count));
	for (uint32_t i = 0; i < count; i++)
		if (!pass_pair(&self, &at))
			return give_up(&self, errno);
	return self.bytes;
}

static rocprofiler_register_error_code_t inprocess_fail(rocprofiler_register_error_code_t code,
							const char *why)
{
	snprintf(reason, sizeof(reason), "%s", why);
	return code;
}

/* One attach or detach at a time.  A child of fork may have copied a turn whose holder it lacks. */
static bool turn_acquire(void)
{
	uint32_t me = (uint32_t)getpid(), now = __atomic_load_n(&turn, __ATOMIC_RELAXED);

	return now != me && __atomic_compare_exchange_n(&turn, &now, me, false, __ATOMIC_ACQUIRE,
							__ATOMIC_RELAXED);
}

/* A tool that calls this during an attach would wait for that very attach. */
static bool is_thread_of_ours(void)
{
	char name[NAME_BYTES] = "";

	prctl(PR_GET_NAME, name);
	return !strncmp(name, CONTROL_THREAD_NAME, strlen(CONTROL_THREAD_NAME));
}

/* Two attaches at once: AMD's library returns success for both. */
static bool turn_await(void)
{
	struct timespec pause = { 0, TURN_PAUSE_NS };

	for (unsigned i = 0; i < TURN_PAUSES; i++) {
		if (turn_acquire())
			return true;
		if (is_thread_of_ours())
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void turn_release(void)
{
	__atomic_store_n(&turn, 0, __ATOMIC_RELEASE); /* pairs with the acquire in turn_acquire() */
}

static rocprofiler_register_error_code_t code_of(int r)
{
	if (r == -EINVAL)
		return ROCP_REG_INVALID_ARGUMENT;
	return r ? ROCP_REG_ROCPROFILER_ERROR : ROCP_REG_SUCCESS;
}

static void request_done(struct request *self)
{
	free(self->environment);
	free(self->tools);
	*self = (struct request){ 0 };
}

/* 0, or its error. */
static int request_copy(struct request *ret, const char *environment, const char *tools)
{
	*ret = (struct request){ .tools = guarded_text(tools) };
	if (!ret->tools)
		return -errno;
	if (!ret->tools[strspn(ret->tools, ":, ")])
		return -EINVAL;
	if (!environment)
		return 0;
	ret->environment = guarded_variables(environment);
	return ret->environment ? 0 : -errno;
}

/* libc's strerror may take locks, for the program's language. */
static rocprofiler_register_error_code_t refuse_request(int r)
{
	struct fork_work work = forks_begin();

	snprintf(reason, sizeof(reason), "the list of tools or variables cannot be used: %s",
		 strerror(-r));
	forks_release(work);
	return r == -EPERM || r == -ENOSYS ? ROCP_REG_ROCPROFILER_ERROR : ROCP_REG_INVALID_ARGUMENT;
}

static rocprofiler_register_error_code_t call_attach(const struct sdk *sdk,
						     const struct request *request)
{
	attach_function *attach = (attach_function *)sdk_function(sdk, "limpet_inprocess_attach");
	struct boot_libc libc;
	int r;

	if (!attach || !libc_functions_find(&libc))
		return inprocess_fail(ROCP_REG_NO_TOOLS,
				      "a function of libc's or of the profiler's is missing");
	r = attach(&libc, request->environment, request->tools, reason, sizeof(reason) - 1);
	if (r && r != -ENOEXEC)
		return code_of(r);
	/* After one tool's failure, the others are attached.  All tables: an agent that had them
	 * may have been unloaded, and ignores those that it has already. */
	handover_to(HANDOVER_ALL, sdk);
	activation_announce(ROCP_REG_TOOL_ACTIVATION_ATTACH);
	return code_of(r);
}

static rocprofiler_register_error_code_t attach_request(const struct request *request)
{
	rocprofiler_register_error_code_t code;
	struct sdk sdk;

	if (!sdk_open_ours(&sdk, /* may_load */ true))
		return inprocess_fail(
			ROCP_REG_NO_TOOLS,
			"librocprofiler-sdk.so.1 is neither loaded nor beside this library");
	code = call_attach(&sdk, request);
	sdk_close(&sdk);
	return code;
}

static rocprofiler_register_error_code_t attach_new(const char *environment, const char *tools)
{
	rocprofiler_register_error_code_t code;
	struct request request;
	int r = request_copy(&request, environment, tools);

	code = r ? refuse_request(r) : attach_request(&request);
	if (code != ROCP_REG_SUCCESS) {
		request_done(&request);
		return code;
	}
	request_done(&last);
	last = request;
	return code;
}

static rocprofiler_register_error_code_t inprocess_detach_now(void)
{
	detach_function *function;
	struct boot_libc libc;
	struct sdk sdk;
	int r;

	if (!sdk_open_ours(&sdk, /* may_load */ false))
		return inprocess_fail(ROCP_REG_NO_TOOLS, "no profiler is in this process");
	function = (detach_function *)sdk_function(&sdk, "limpet_inprocess_detach");
	r = function && libc_functions_find(&libc) ? function(&libc, reason, sizeof(reason) - 1)
						   : -ENOSYS;
	sdk_close(&sdk);
	return code_of(r);
}

/* Unless it fails, turn_release() must follow. */
static rocprofiler_register_error_code_t turn_begin(void)
{
	if (!switch_attach())
		return inprocess_fail(ROCP_REG_ATTACHMENT_NOT_AVAILABLE, "ROCP_TOOL_ATTACH is off");
	if (!turn_await())
		return inprocess_fail(ROCP_REG_ROCPROFILER_ERROR,
				      "another attach or detach is under way");
	return ROCP_REG_SUCCESS;
}

rocprofiler_register_error_code_t inprocess_attach(const char *environment, const char *tools)
{
	rocprofiler_register_error_code_t code;

	if (!tools)
		return inprocess_fail(ROCP_REG_INVALID_ARGUMENT, "no tool was named");
	code = turn_begin();
	if (code != ROCP_REG_SUCCESS)
		return code;
	code = attach_new(environment, tools);
	turn_release();
	return code;
}

rocprofiler_register_error_code_t inprocess_attach_again(void)
{
	rocprofiler_register_error_code_t code = turn_begin();

	if (code != ROCP_REG_SUCCESS)
		return code;
	code = last.tools ? attach_request(&last)
			  : inprocess_fail(ROCP_REG_NO_TOOLS, "nothing was attached before");
	turn_release();
	return code;
}

rocprofiler_register_error_code_t inprocess_detach(void)
{
	rocprofiler_register_error_code_t code = turn_begin();

	if (code != ROCP_REG_SUCCESS)
		return code;
	code = inprocess_detach_now();
	turn_release();
	return code;
}

size_t inprocess_reason(char *text, size_t room)
{
	int length = snprintf(text, room, "%s", reason);

	return length < 0 ? 0 : (size_t)length;
}
