/*
 * A tool that says in which processes it is attached: a line for each call, with the process's
 * number, to the file that ROCP_FAMILY_LOG names.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <limpet/tool.h>

static void say(const char *what)
{
	const char *path = getenv("ROCP_FAMILY_LOG");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%s %d\n", what, getpid());
	close(fd);
}

static int initialize(limpet_finalize_function *finalize, void *data)
{
	(void)finalize;
	(void)data;
	say("initialize");
	return 0;
}

static void finalize(void *data)
{
	(void)data;
	say("finalize");
}

static int attach(limpet_detach_function *detach, struct limpet_context *contexts, uint64_t count,
		  void *data)
{
	(void)detach;
	(void)contexts;
	(void)count;
	(void)data;
	say("attach");
	return 0;
}

static void detach(void *data)
{
	(void)data;
	say("detach");
}

struct limpet_tool *rocprofiler_configure(uint32_t version, const char *runtime_version,
					  uint32_t priority, struct limpet_client *client)
{
	static struct limpet_tool tool = { sizeof(tool), initialize, finalize, NULL };

	(void)version;
	(void)runtime_version;
	(void)priority;
	client->name = "family";
	return &tool;
}

struct limpet_tool_attach *rocprofiler_configure_attach(uint32_t version,
							const char *runtime_version,
							uint32_t priority,
							struct limpet_client *client)
{
	static struct limpet_tool_attach tool = { sizeof(tool), attach, detach, NULL };

	(void)version;
	(void)runtime_version;
	(void)priority;
	(void)client;
	return &tool;
}
