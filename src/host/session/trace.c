/*
 * Makes the memory of the tracer's rings, and the request that selects what it traces.
 */
#include "host/session/trace.h"

#include "host/attach/children/blobs.h"
#include "host/attach/library.h"
#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "host/process/status.h"
#include "host/session/trace_notes.h"
#include "shared/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

#define REQUEST_SPARE 32 /* for parts added later */

static void trace_add(char *text, const char *format, ...) PRINTF_LIKE(2, 3);
static void trace_add(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, RINGS_REQUEST_MAX - length, format, args);
	va_end(args);
}

uint32_t trace_domains(const struct trace_options *options)
{
	return options->domains |
	       (uint32_t)(options->all_locks || options->lock_stacks) << DOMAIN_LOCK |
	       (uint32_t)options->io_stacks << DOMAIN_IO |
	       (uint32_t)(options->alloc_stacks || options->alloc_sample) << DOMAIN_ALLOC |
	       (uint32_t) !!options->function_count << DOMAIN_FUNCTION |
	       (uint32_t) !!options->counters << DOMAIN_COUNTER |
	       (uint32_t) !!options->windows << DOMAIN_WINDOW;
}

bool trace_reads_python(const struct trace_options *options)
{
	return options->launch_stacks || options->alloc_sample || options->io_stacks ||
	       options->lock_stacks;
}

/* Writes the request in the tracer's syntax. */
static int write_request(const struct trace_options *options, char *text, struct err *err)
{
	uint32_t wanted = trace_domains(options);

	for (unsigned i = 0; i < DOMAINS; i++)
		if (domain_key(i) && wanted & 1u << i)
			trace_add(text, "%s;", domain_key(i));
	if (options->counters)
		trace_add(text, "%s", options->counters);
	if (options->windows)
		trace_add(text, "%s", options->windows);
	if (options->all_locks)
		trace_add(text, "lock-all;");
	if (options->address_entries)
		trace_add(text, "address-entries;");
	if (options->opencl_device_time)
		trace_add(text, "opencl-device-time;");
	if (options->cuda_api_all)
		trace_add(text, "cuda-api-all;");
	if (options->launch_stacks)
		trace_add(text, "launch-stack;");
	if (options->alloc_stacks)
		trace_add(text, "alloc-stack;");
	if (options->io_stacks)
		trace_add(text, "io-stack;");
	if (options->lock_stacks)
		trace_add(text, "lock-stack;");
	if (options->alloc_sample)
		trace_add(text, "alloc-sample=%lu;", options->alloc_sample);
	for (size_t i = 0; i < options->function_count; i++) {
		if (strchr(options->functions[i], ';'))
			return err_set(err, -EINVAL, "'%s' is not LIBRARY:SYMBOL",
				       options->functions[i]);
		trace_add(text, "function=%s;", options->functions[i]);
	}
	return strlen(text) + REQUEST_SPARE < RINGS_REQUEST_MAX
		       ? 0
		       : err_set(err, -E2BIG, "the names of functions are too long together");
}

static int make_memory(size_t size)
{
	int fd = memfd_create("limpet-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("limpet-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -errno;
}

static int refuse_size(int code, size_t size, struct err *err)
{
	err_set(err, code, "%zu bytes of memory for records: %s", size, strerror(-code));
	if (code == -EFBIG) {
		err_why(err, "the limit of file sizes (ulimit -f) holds for shared memory too");
		err_fix(err,
			"a higher limit (ulimit -f unlimited), or smaller rings (--ring-size 4K)");
	}
	return code;
}

static int check_options(const struct trace_options *options, struct err *err)
{
	uint64_t size = options->ring_size;

	if (!trace_domains(options))
		return err_set(err, -EINVAL, "no trace was requested");
	if (options->slot_count > RINGS_SLOTS_MAX)
		return err_set(err, -EINVAL, "more than %u threads", RINGS_SLOTS_MAX);
	if (size && (size < 4 * RECORD_MAX_BYTES || size > 1u << 30 || size & (size - 1)))
		return err_set(err, -EINVAL,
			       "a ring of %lu bytes: not a power of two from 4K to 1G", size);
	return 0;
}

static uint64_t ring_size(const struct trace_options *options)
{
	const uint32_t devices =
		DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY) | DOMAINS_CUDA | DOMAIN_BIT(COUNTER);

	if (options->ring_size)
		return options->ring_size;
	return trace_domains(options) & devices ? TRACE_RING_SIZE_DEVICES : TRACE_RING_SIZE;
}

int trace_request(const struct trace_options *options, char ret[RINGS_REQUEST_MAX], struct err *err)
{
	int r = check_options(options, err);

	ret[0] = '\0';
	return r ? r : write_request(options, ret, err);
}

int trace_open(struct trace *ret, const struct trace_options *options, struct err *err)
{
	struct rings layout;
	size_t size;
	int r = check_options(options, err);

	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	if (r)
		return r;
	size = rings_layout(options->slot_count ? options->slot_count : TRACE_SLOTS,
			    ring_size(options), TRACE_FUNCTIONS_MAX, &layout);
	r = write_request(options, layout.request, err);
	if (r)
		return r;
	ret->fd = make_memory(size);
	if (ret->fd < 0)
		return refuse_size(ret->fd, size, err);
	ret->rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ret->fd, 0);
	if (ret->rings == MAP_FAILED) {
		ret->rings = NULL;
		err_set(err, -errno, "map %zu bytes for records: %s", size, strerror(errno));
		trace_close(ret);
		return err->code;
	}
	*ret->rings = ret->layout = layout;
	ret->domains_wanted = trace_domains(options);
	ret->wants_stacks = trace_reads_python(options);
	ret->notes = calloc(1, sizeof(*ret->notes));
	if (ret->notes)
		return 0;
	trace_close(ret);
	return err_set(err, -ENOMEM, "no memory");
}

void trace_close(struct trace *trace)
{
	if (trace->rings)
		munmap(trace->rings, trace->layout.size);
	if (trace->fd >= 0)
		close(trace->fd);
	free(trace->notes);
	trace->notes = NULL;
	trace->rings = NULL;
	trace->fd = -1;
}

uint32_t trace_absent(const struct trace *trace)
{
	return trace->domains_wanted &
	       ~__atomic_load_n(&trace->rings->domains_found, __ATOMIC_RELAXED);
}

/* A child made without libc has its parent's number in libc's thread block.  libc registers each
 * thread's robust list with the kernel, in its forked children, too; such a child has none. */
static bool is_unknown_to_libc(pid_t pid)
{
	void *list = NULL;
	size_t size = 0;

	return !syscall(SYS_get_robust_list, pid, &list, &size) && !list;
}

static uint32_t word_told(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

void trace_words(const struct trace *trace, struct trace_words *ret)
{
	const struct rings *rings = trace->rings;

	*ret = (struct trace_words){ .hooked = word_told(&rings->words_hooked),
				     .restored = word_told(&rings->words_restored),
				     .foreign = word_told(&rings->words_foreign),
				     .unwritable = word_told(&rings->words_unwritable),
				     .refused = word_told(&rings->words_refused) };
	/* Acquire: pairs with the release in tell_left() of the tracer; the names are foreign. */
	ret->left = __atomic_load_n(&rings->words_left, __ATOMIC_ACQUIRE);
	snprintf(ret->left_function, sizeof(ret->left_function), "%.*s",
		 (int)sizeof(rings->left_function) - 1, rings->left_function);
	snprintf(ret->left_module, sizeof(ret->left_module), "%.*s",
		 (int)sizeof(rings->left_module) - 1, rings->left_module);
}

int trace_send(struct session *session, const struct trace *trace, struct err *err)
{
	struct attachment *attachment = &session->attachment;
	struct control_rings order = { .size = trace->layout.size };
	struct control_reply reply = { 0 };

	if (is_unknown_to_libc(attachment->target.process.pid))
		trace_add(trace->rings->request, "ask-number;");
	control_header_init(&order.header, CONTROL_RINGS, sizeof(order));
	return link_ask(&attachment->link, &attachment->target, &order.header, trace->fd, &reply,
			err);
}

/* Two builds of limpet have different tracers: distinguished by their build ids. */
static struct tool_identity trace_identify(size_t size)
{
	size_t id_size = (size_t)(blob_tracer_id_end - blob_tracer_id);

	return (struct tool_identity){ .inode = hash_bytes(blob_tracer_id, id_size), .size = size };
}

static int refuse_musl(struct err *err)
{
	err_set(err, -ENOTSUP, "this program uses musl");
	return err_why(
		err, "limpet's tracer needs static thread-local storage, which musl does not give "
		     "to a library that is loaded later");
}

/* A thread in strict seccomp mode is killed when it reads the time as traced calls do. */
static int refuse_strict(pid_t pid, struct err *err)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status status;
	struct err ignored; /* of a thread that has just ended */
	size_t count;
	int r = proc_list(pid, "task", &tids, &count, err);

	for (size_t i = 0; !r && i < count; i++) {
		if (status_read(pid, tids[i], &status, &ignored) || status.seccomp != 1)
			continue;
		err_set(err, -ENOTSUP, "thread %d is in seccomp's strict mode", tids[i]);
		return err_why(
			err,
			"a traced call reads the clock, and the kernel would kill the thread for that");
	}
	return r;
}

int trace_load(struct session *session, const struct trace *trace, struct session_tool *tool,
	       struct err *err)
{
	struct attachment *attachment = &session->attachment;
	size_t size = (size_t)(blob_tracer_end - blob_tracer);
	struct control_load load = { .identity = trace_identify(size),
				     .timeout_ms = session->timeout_ms };
	struct library library = LIBRARY_NONE;
	struct control_reply reply = { 0 };
	int r;

	if (attachment->report.way == BOOT_WAY_CALL)
		return refuse_musl(err);
	r = refuse_strict(attachment->target.process.pid, err);
	if (r)
		return r;
	r = library_pack(&attachment->target, TRACER_NAME, blob_tracer, size, &library, err);
	if (r)
		return r;
	control_header_init(&load.header, CONTROL_LOAD, sizeof(load));
	load.header.flags = library_flags(&library);
	if (!(trace->domains_wanted & ~TRACE_DOMAINS_APART))
		load.header.flags |= CONTROL_APART;
	snprintf(load.path, sizeof(load.path), "%s", TRACER_NAME);
	tool->by_content = true;
	r = link_ask(&attachment->link, &attachment->target, &load.header, library.fd, &reply, err);
	library_close(&library);
	tool->index = reply.value;
	return r;
}

int trace_verify(const struct session *session, struct err *err)
{
	const struct session_tool *tool = &session->tools[session->tool_count - 1];

	if (!tool->is_ok)
		return err_set(err, -ENOEXEC, "%s", tool->error);
	if (!tool->takes_part) {
		err_set(err, -ENOEXEC, "limpet's tracer was not configured");
		return err_why(
			err,
			"the process had loaded another librocprofiler-sdk.so.1 before limpet's");
	}
	return 0;
}
