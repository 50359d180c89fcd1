/*
 * Sends the counters of devices to the agent, and fetches the definitions that tools bring.
 */
#include "host/session/steps.h"

#include "host/attach/children/spawn.h"
#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/counters/amd/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL_SIZE_MAX ((size_t)256 << 20)
#define TEXT_USUAL    ((size_t)64 << 10) /* of a tool's definitions */

/* One exchange of definitions with the agent. */
struct exchange {
	struct attachment *attachment;
	char *text; /* brought by tools; NULL: none */
	struct catalog_origin origin;
	bool are_awaited; /* tools see no counters until the answer */
	bool is_lost;     /* the agent has not answered */
	struct err why;
};

/* A tool that uses counters calls one of these: it lists them, or has their ids from a list. */
static bool tool_uses_counters(const char *path)
{
	static const char *const functions[] = { "rocprofiler_iterate_agent_supported_counters",
						 "rocprofiler_create_counter_config" };
	CLEANUP(free) char *bytes = NULL;
	size_t size = 0;

	if (text_read_file(path, TOOL_SIZE_MAX, &bytes, &size))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (memmem(bytes, size, functions[i], strlen(functions[i])))
			return true;
	return false;
}

static int order_send(struct exchange *self, uint32_t flags, size_t size, int fd, uint32_t *ret)
{
	struct control_counters order = {
		.header = order_header(CONTROL_COUNTERS, sizeof(order), flags), .bytes = size
	};
	struct control_reply reply = { 0 };
	int r = attach_order(self->attachment, &order.header, fd, &reply, &self->why);

	self->is_lost = r && !reply.code;
	*ret = reply.value;
	return r;
}

/* The target's memory is not trusted: it is read, not mapped. */
static int text_read(struct exchange *self, int fd, uint32_t value)
{
	size_t size = value & ~(COUNTERS_REPLACE | COUNTERS_WAIT);
	char *text;

	self->are_awaited = value & COUNTERS_WAIT;
	if (!size)
		return 0;
	text = size <= COUNTERS_TEXT_MAX ? malloc(size) : NULL;
	if (!text || pread(fd, text, size, 0) != (ssize_t)size) {
		free(text);
		return err_set(&self->why, -EPROTO,
			       "definitions of a tool: %zu bytes are not there", size);
	}
	self->text = text;
	self->origin = (struct catalog_origin){ .text = text,
						.text_size = size,
						.is_text_all = value & COUNTERS_REPLACE };
	return 0;
}

/* -E2BIG: they are larger. */
static int definitions_fetch_into(struct exchange *self, uint32_t flags, size_t room)
{
	CLEANUP(close) int fd = shared_open("limpet-definitions", room, /* is_allocated */ true);
	uint32_t value = 0;
	int r;

	if (fd < 0)
		return err_set(&self->why, fd, "memory for definitions of a tool: %s",
			       strerror(-fd));
	r = order_send(self, CONTROL_DEFINITIONS | flags, room, fd, &value);
	return r ? err_while(&self->why, "definitions of a tool") : text_read(self, fd, value);
}

/* What tools have brought, now or at an earlier attach: fetched also for tools that bring none, so
 * that ids keep their meaning. */
static int definitions_fetch(struct exchange *self, uint32_t flags)
{
	int r = definitions_fetch_into(self, flags, TEXT_USUAL);

	return r == -E2BIG ? definitions_fetch_into(self, flags, COUNTERS_TEXT_MAX) : r;
}

static int catalog_send(struct exchange *self)
{
	CLEANUP(free) void *bytes = NULL;
	CLEANUP(close) int fd = -1;
	size_t size = 0;
	uint32_t ignored;
	int r = counter_catalog_make(&self->origin, &bytes, &size, &self->why);

	if (r)
		return r;
	fd = blob_open("limpet-counters", bytes, size);
	return fd < 0 ? err_set(&self->why, fd, "memory for counters: %s", strerror(-fd))
		      : order_send(self, 0, size, fd, &ignored);
}

/* Only an agent that does not answer ends an attach. */
static int exchange_end(struct exchange *self, int r, struct err *err)
{
	struct attach_report *report = &self->attachment->report;
	const struct err *why = &self->why;

	free(self->text);
	if (r && self->is_lost) {
		*err = *why;
		return r;
	}
	if (r && !report->warning[0])
		snprintf(report->warning, sizeof(report->warning),
			 "tools find no counters of devices: %s%s%s", why->what,
			 why->why[0] ? ": " : "", why->why);
	return 0;
}

int counters_send(struct attachment *attachment, const struct session_options *options,
		  bool *ret_follows, struct err *err)
{
	struct exchange self = { .attachment = attachment };
	bool are_used = false;
	int r;

	for (size_t i = 0; !are_used && i < options->tool_count; i++)
		are_used = tool_uses_counters(options->tools[i]);
	if (!are_used)
		return 0;
	r = definitions_fetch(&self, CONTROL_AGAIN);
	*ret_follows = !r;
	if (!r)
		r = catalog_send(&self);
	return exchange_end(&self, r, err);
}

int counters_follow(struct attachment *attachment, bool is_last, struct err *err)
{
	struct exchange self = { .attachment = attachment };
	int r = definitions_fetch(&self, is_last ? 0 : CONTROL_AGAIN);

	if (!r && self.are_awaited)
		r = catalog_send(&self);
	return exchange_end(&self, r, err);
}
