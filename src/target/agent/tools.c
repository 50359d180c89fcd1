/*
 * Tool libraries in the target.  Runs on the control thread, the only one that calls dlopen and
 * dlclose for us.
 */
#include "target/agent/agent.h"
#include "target/runtime/load.h"
#include "target/runtime/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

typedef void *dlopen_function(const char *, int);
typedef int dlclose_function(void *);

static bool same_file(const struct tool_identity *a, const struct tool_identity *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool is_loaded(const struct control_load *load)
{
	for (unsigned i = 0; i < agent_page.tool_count; i++)
		if (same_file(&agent_page.tools[i].identity, &load->identity))
			return true;
	return false;
}

static void *open_tool(const struct boot_context *boot, const struct control_load *load,
		       const int fds[2])
{
	static unsigned loads; /* control thread only; the bootstrap code used spelling 0 */

	if (load->header.flags & CONTROL_BY_CONTENT)
		return load_from_fd(&boot->libc, fds[0], fds[1], ++loads);
	return ((dlopen_function *)boot->libc.dlopen)(load->path, RTLD_NOW | RTLD_LOCAL);
}

int tools_load(const struct boot_context *boot, const struct control_load *load, const int fds[2],
	       char *text, size_t room)
{
	struct agent_tool *tool = &agent_page.tools[agent_page.tool_count];
	void *handle;

	if (is_loaded(load))
		return 0;
	if (agent_page.tool_count == AGENT_TOOLS_MAX) {
		text_add(text, room, 0, "too many tools in one process");
		return -ENOSPC;
	}
	handle = open_tool(boot, load, fds);
	if (!handle) {
		load_error(&boot->libc, text, room);
		return -ENOEXEC;
	}
	tool->identity = load->identity;
	tool->handle = (uint64_t)handle;
	tool->by_content = load->header.flags & CONTROL_BY_CONTENT;
	text_add(tool->path, sizeof(tool->path), 0, load->path);
	agent_page.tool_count++;
	return 0;
}

unsigned tools_close(const struct boot_context *boot)
{
	dlclose_function *close = (dlclose_function *)boot->libc.dlclose;
	unsigned refused = 0;

	while (agent_page.tool_count) {
		struct agent_tool *tool = &agent_page.tools[--agent_page.tool_count];

		refused += close((void *)tool->handle) != 0;
		tool->handle = 0;
	}
	return refused;
}
