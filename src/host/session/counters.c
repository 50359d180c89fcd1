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

static bool tool_asks(const char *path)
{
	CLEANUP(free) char *bytes = NULL;
	size_t size = 0;

	return !text_read_file(path, TOOL_SIZE_MAX, &bytes, &size) && names_counters(bytes, size);
}

static int memory_make(const void *bytes, size_t size)
{
	CLEANUP(close)
	int fd = memfd_create("limpet-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("limpet-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
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

int counters_tell(struct session *session, const struct session_options *options, struct err *err)
{
	CLEANUP(free) void *bytes = NULL;
	struct err why = { 0 };
	size_t size = 0;
	bool asks = false;

	for (size_t i = 0; !asks && i < options->tool_count; i++)
		asks = tool_asks(options->tools[i]);
	if (!asks)
		return 0;
	if (counter_catalog_make(/* folder */ NULL, &bytes, &size, &why)) {
		if (!session->warning[0])
			snprintf(session->warning, sizeof(session->warning),
				 "tools find no counters of devices: %s", why.what);
		return 0;
	}
	return catalog_send(session, bytes, size, err);
}
