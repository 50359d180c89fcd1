/*
 * Host only.
 */
#include "host/session/counters.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/counters/amd/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#define TOOL_SIZE_MAX ((size_t)256 << 20)

/* Whatever a tool does with counters, it lists them first, or has their ids from a list. */
static bool names_counters(const char *bytes, size_t size)
{
	static const char *const functions[] = { "rocprofiler_iterate_agent_supported_counters",
						 "rocprofiler_create_counter_config" };

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (memmem(bytes, size, functions[i], strlen(functions[i])))
			return true;
	return false;
}

static bool names_definitions(const char *bytes, size_t size)
{
	static const char function[] = "rocprofiler_load_counter_definition";

	return memmem(bytes, size, function, strlen(function));
}

/* Does it ask for counters?  Notes whether it may bring definitions. */
static bool tool_asks(struct session *session, const char *path)
{
	CLEANUP(free) char *bytes = NULL;
	size_t size = 0;

	if (text_read_file(path, TOOL_SIZE_MAX, &bytes, &size) || !names_counters(bytes, size))
		return false;
	session->brings_counters |= names_definitions(bytes, size);
	return true;
}

static int memory_open(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	/* Before Linux 6.3. */
	return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING) : fd;
}

static int memory_make(const void *bytes, size_t size)
{
	CLEANUP(close) int fd = memory_open("limpet-counters");

	errno = fd < 0 ? errno : 0; /* a short write leaves it as it was */
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return errno ? -errno : -EIO;
	return TAKE_FD(fd);
}

static int catalog_send(struct session *session, const void *bytes, size_t size, struct err *err)
{
	struct attachment *attachment = &session->attachment;
	struct control_counters order = { .bytes = size };
	struct control_reply reply = { 0 };
	CLEANUP(close) int fd = memory_make(bytes, size);

	if (fd < 0)
		return err_set(err, fd, "memory for counters: %s", strerror(-fd));
	control_header_init(&order.header, CONTROL_COUNTERS, sizeof(order));
	return link_ask(&attachment->link, &attachment->target, &order.header, fd, &reply, err);
}

/* What the target says is not trusted: its memory is read, and not mapped. */
static int text_read(int fd, uint32_t value, struct catalog_origin *ret, struct err *err)
{
	size_t size = value & ~(COUNTERS_REPLACE | COUNTERS_WAIT);
	char *text;

	if (!size)
		return 0;
	text = size <= COUNTERS_TEXT_MAX ? malloc(size) : NULL;
	if (!text || pread(fd, text, size, 0) != (ssize_t)size) {
		free(text);
		return err_set(err, -EPROTO, "definitions of a tool: %zu bytes are not there",
			       size);
	}
	*ret = (struct catalog_origin){ .text = text,
					.text_size = size,
					.is_text_all = value & COUNTERS_REPLACE };
	return 0;
}

/* What tools have brought, now or at an earlier attach; the caller frees the text.  Do they wait to
 * be told what comes of it? */
static int definitions_fetch(struct session *session, struct catalog_origin *ret, bool *ret_wait,
			     struct err *err)
{
	struct attachment *attachment = &session->attachment;
	struct control_counters order = { .bytes = COUNTERS_TEXT_MAX };
	struct control_reply reply = { 0 };
	CLEANUP(close) int fd = memory_open("limpet-definitions");
	int r;

	/* The target writes into it: it does not become smaller under it. */
	if (fd < 0 || ftruncate(fd, (off_t)order.bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return err_set(err, -errno, "memory for definitions: %s", strerror(errno));
	control_header_init(&order.header, CONTROL_COUNTERS, sizeof(order));
	order.header.flags = CONTROL_DEFINITIONS;
	r = link_ask(&attachment->link, &attachment->target, &order.header, fd, &reply, err);
	*ret_wait = reply.value & COUNTERS_WAIT;
	return r ? r : text_read(fd, reply.value, ret, err);
}

static int catalog_tell(struct session *session, const struct catalog_origin *origin,
			struct err *err)
{
	CLEANUP(free) void *bytes = NULL;
	struct err why = { 0 };
	size_t size = 0;

	if (!counter_catalog_make(origin, &bytes, &size, &why))
		return catalog_send(session, bytes, size, err);
	if (!session->warning[0])
		snprintf(session->warning, sizeof(session->warning),
			 "tools find no counters of devices: %s%s%s", why.what,
			 why.why[0] ? ": " : "", why.why);
	return 0;
}

int counters_tell(struct session *session, const struct session_options *options, struct err *err)
{
	struct catalog_origin origin = { NULL };
	bool asks = false, ignored;
	int r = 0;

	for (size_t i = 0; i < options->tool_count; i++)
		asks |= tool_asks(session, options->tools[i]);
	if (session->brings_counters)
		r = definitions_fetch(session, &origin, &ignored, err);
	if (!r && asks)
		r = catalog_tell(session, &origin, err);
	free((char *)(uintptr_t)origin.text);
	return r;
}

int counters_follow(struct session *session, struct err *err)
{
	struct catalog_origin origin = { NULL };
	bool waits = false;
	int r = session->brings_counters ? definitions_fetch(session, &origin, &waits, err) : 0;

	if (!r && waits)
		r = catalog_tell(session, &origin, err);
	free((char *)(uintptr_t)origin.text);
	return r;
}
