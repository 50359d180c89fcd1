/*
 * A tool that brings definitions of counters: the file that SDK_DEFINITIONS names, with the flags
 * of SDK_FLAGS.
 */
#include "sdk_tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	handle_t id;
	const char *name, *description, *block, *expression;
	uint8_t flags;
} info_t;

typedef int counters_t(handle_t agent, handle_t *counters, size_t count, void *data);

int rocprofiler_load_counter_definition(const char *yaml, size_t size, int flags);
int rocprofiler_iterate_agent_supported_counters(handle_t agent, counters_t *callback, void *data);
int rocprofiler_query_counter_info(handle_t counter, int version, void *ret);
int rocprofiler_create_counter_config(handle_t agent, handle_t *counters, size_t count,
				      handle_t *ret);

#define DEVICE 257

static char text[1 << 18];
static size_t size;

static int flags(void)
{
	return atoi(getenv("SDK_FLAGS"));
}

static void text_read(void)
{
	int fd = open(getenv("SDK_DEFINITIONS"), O_RDONLY | O_CLOEXEC);
	ssize_t r = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (r < 0)
		log_line("wrong %s", getenv("SDK_DEFINITIONS"));
	size = r < 0 ? 0 : (size_t)r;
	if (fd >= 0)
		close(fd);
}

static int show_counters(handle_t agent, handle_t *counters, size_t count, void *data)
{
	(void)data;
	for (size_t i = 0; i < count; i++) {
		handle_t config = { 0 };
		info_t info;

		MUST(rocprofiler_query_counter_info(counters[i], 1, &info));
		log_line("counter %s %lu %d", info.name, (unsigned long)counters[i].handle,
			 rocprofiler_create_counter_config(agent, &counters[i], 1, &config));
	}
	return 0;
}

static int list(void)
{
	return rocprofiler_iterate_agent_supported_counters((handle_t){ DEVICE }, show_counters,
							    NULL);
}

static int initialize(void (*finalize)(client_t), void *data)
{
	(void)finalize, (void)data;
	log_line("initialized %d", list());
	log_line("again %d", rocprofiler_load_counter_definition(text, size, flags()));
	log_line("other %d", rocprofiler_load_counter_definition(text, size - 1, flags()));
	return 0;
}

static void finalize_tool(void *data)
{
	(void)data;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)contexts, (void)count, (void)data;
	log_line("attached %d", list());
	log_line("late %d", rocprofiler_load_counter_definition(text, size, flags()));
	return 0;
}

static void detach_tool(void *data)
{
	(void)data;
}

EXPORT tool_t *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority,
				     client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, finalize_tool, NULL };

	(void)version, (void)runtime, (void)priority;
	client->name = "definitions";
	text_read();
	log_line("null %d", rocprofiler_load_counter_definition(NULL, 1, 2));
	log_line("large %d", rocprofiler_load_counter_definition(text, (size_t)1 << 40, 2));
	log_line("empty %d", rocprofiler_load_counter_definition(NULL, 0, 2));
	log_line("loaded %d", rocprofiler_load_counter_definition(text, size, flags()));
	log_line("early %d", list());
	return &tool;
}

EXPORT tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *runtime,
						   uint32_t priority, client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach_tool, NULL };

	(void)version, (void)runtime, (void)priority, (void)client;
	return &tool;
}
