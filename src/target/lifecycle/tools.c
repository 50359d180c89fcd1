/*
 * Loads and closes tool libraries. dlopen and dlclose run the tool's constructors and destructors,
 * so they also run on a thread with a time limit.
 */
#include "target/lifecycle/tools.h"

#include "shared/arch/syscall.h"
#include "target/amd/engine.h"
#include "target/lifecycle/library_close.h"
#include "target/lifecycle/machine.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/load.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct tool tools[AGENT_TOOLS_MAX];
int32_t tools_finality;
uint32_t tools_are_opening;

static const char no_tool[] = "it does not export rocprofiler_configure";

/* One dlopen, with room for the loader's message. */
struct opening {
	struct boot_libc libc; /* a copy: the caller may return before a slow constructor */
	/* The library's file if it has no path, or a directory with it. The thread that opens the
	 * library closes it: until then the number must not be reused. */
	struct descriptor file;
	bool is_directory;
	char folder[LOAD_FOLDER_MAX]; /* if the caller has another descriptor table; else empty */
	unsigned spelling;
	void *handle;
	char path[TOOL_PATH_MAX];
	char text[200];
};

_Static_assert(sizeof(struct opening) <= RUNNER_ARGUMENT, "fits the runner");

unsigned tools_count(void)
{
	return agent_page.tool_count;
}

const char *tool_name(const struct tool *tool)
{
	const char *name = tool->page->path;

	for (const char *at = name; *at; at++)
		if (*at == '/')
			name = at + 1;
	return name;
}

void tool_set_reason(struct tool *tool, const char *reason)
{
	text_add(tool->page->reason, sizeof(tool->page->reason), 0, reason);
}

bool tool_move(struct tool *tool, unsigned event)
{
	int next = machine_next(tool->page->state, event);

	if (next < 0)
		return false;
	/* Release: pairs with the host's read; the reason was stored before. */
	__atomic_store_n(&tool->page->state, (uint32_t)next, __ATOMIC_RELEASE);
	return true;
}

static void open_library(void *argument)
{
	struct opening *self = argument;
	struct fork_work work = forks_hold();

	if (self->path[0])
		self->handle = libc_open(self->path, RTLD_NOW | RTLD_LOCAL);
	else
		self->handle = load_from_fd(&self->libc, self->folder, self->file.fd,
					    self->is_directory, self->spelling);
	forks_release(work);
	if (!self->folder[0])
		descriptor_close(&self->file);
	if (!self->handle)
		load_error(&self->libc, self->text, sizeof(self->text));
}

/* A timed-out load has succeeded later: closes the library. */
static void close_late(void *argument)
{
	struct opening *self = argument;

	if (self->handle)
		libc_close(self->handle);
}

static struct tool *tool_find_identity(const struct tool_identity *identity)
{
	for (unsigned i = 0; i < tools_count(); i++)
		if (tools[i].page->handle &&
		    !memcmp(&tools[i].page->identity, identity, sizeof(*identity)))
			return &tools[i];
	return NULL;
}

static void find_symbols(struct tool *tool)
{
	void *handle = (void *)tool->page->handle;

	tool->configure = libc_symbol(handle, "rocprofiler_configure");
	tool->configure_attach = libc_symbol(handle, "rocprofiler_configure_attach");
	tool->configure_experimental = libc_symbol(handle, "rocprofiler_configure_experimental");
}

/* Returns a free slot, perhaps that of a closed tool. */
static struct tool *make_slot(void)
{
	unsigned i = 0;

	while (i < tools_count() && tools[i].page->handle)
		i++;
	if (i == AGENT_TOOLS_MAX)
		return NULL;
	memset(&agent_page.tools[i], 0, sizeof(agent_page.tools[i]));
	memset(&tools[i], 0, sizeof(tools[i]));
	tools[i].page = &agent_page.tools[i];
	tools[i].index = i;
	return &tools[i];
}

/* The slot counts from here on. */
static int tool_keep(struct tool *tool)
{
	if (tool->index == agent_page.tool_count)
		agent_page.tool_count++;
	return (int)tool->index;
}

struct closing {
	struct boot_libc libc;
	void *handle;
	int result;
};

static void close_library(void *argument)
{
	struct closing *self = argument;

	self->result = tool_library_close(&self->libc, self->handle);
}

static void order_nothing(void *argument)
{
	(void)argument;
}

static bool close_tool(const struct boot_context *boot, struct tool *tool, uint32_t timeout_ms)
{
	struct closing closing = { boot->libc, (void *)tool->page->handle, 0 };

	if (tool->page->is_inside || closing.handle == &agent_page ||
	    sdk_tool_hindrance((int)tool->index))
		return false;
	tool->page->handle = 0;
	return !runner_call(&boot->libc, close_library, order_nothing, &closing, sizeof(closing),
			    TABLE_OF_PROGRAM, timeout_ms) &&
	       !closing.result;
}

/* Constructors run with the target's descriptor table, but the library's file is in limpet's. */
static enum runner_table choose_table(struct opening *self, const struct control_load *load)
{
	if (load->header.flags & CONTROL_APART)
		return TABLE_OF_CALLER;
	if (!(load->header.flags & CONTROL_BY_CONTENT) || !runner_is_apart())
		return TABLE_OF_PROGRAM;
	return !self->is_directory && load_name_folder(self->folder) ? TABLE_OF_PROGRAM
								     : TABLE_OF_CALLER;
}

/* Returns the handle, or NULL with the reason in text. */
static void *open_within(const struct boot_context *boot, const struct control_load *load,
			 struct descriptor *file, char *text, size_t room)
{
	static unsigned loads; /* one caller at a time; the bootstrap uses spelling 0 */
	struct opening self = { .libc = boot->libc, .file = *file, .spelling = ++loads };
	enum runner_table table;
	int r;

	self.is_directory = load->header.flags & CONTROL_DIRECTORY;
	if (!(load->header.flags & CONTROL_BY_CONTENT))
		text_add(self.path, sizeof(self.path), 0, load->path);
	table = choose_table(&self, load);
	__atomic_store_n(&tools_are_opening, 1, __ATOMIC_RELAXED);
	r = runner_call(&boot->libc, open_library, close_late, &self, sizeof(self), table,
			load->timeout_ms);
	__atomic_store_n(&tools_are_opening, 0, __ATOMIC_RELAXED);
	/* A timed-out thread still uses the descriptor, and closes it. */
	if (r == -ETIMEDOUT || (!r && !self.folder[0]))
		*file = descriptor_own(-1);
	if (r)
		text_add(text, room, 0,
			 r == -ETIMEDOUT ? "its constructor did not return in time"
					 : "no thread could be made to load it");
	else
		text_add(text, room, 0, self.text);
	return r ? NULL : self.handle;
}

static struct tool *find_twin(const struct tool *tool)
{
	for (unsigned i = 0; i < tools_count(); i++)
		if (&tools[i] != tool && tools[i].page->handle == tool->page->handle)
			return &tools[i];
	return NULL;
}

/* The loader compares names: it returned a library that already has a slot. Either the file was
 * only touched, or another file has its name now. */
static int join_twin(const struct boot_context *boot, struct tool *tool, struct tool *twin,
		     const struct control_load *load, char *text, size_t room)
{
	struct tool_identity *known = &twin->page->identity;

	close_tool(boot, tool, load->timeout_ms);
	if (known->device != load->identity.device || known->inode != load->identity.inode)
		return text_fail(
			text, room, -EEXIST,
			"the file that had its name before is still loaded: unload that first");
	*known = load->identity;
	return (int)twin->index;
}

/* The host finds the file; only the target can find out whether its user may open it. */
static bool may_open(const char *path)
{
	long fd = raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);

	if (fd >= 0)
		raw1(SYS_close, fd);
	return fd != -EACCES;
}

static int open_new(const struct boot_context *boot, const struct control_load *load,
		    struct descriptor *file, char *text, size_t room)
{
	struct tool *tool, *twin;

	if (!(load->header.flags & CONTROL_BY_CONTENT) && !may_open(load->path))
		return text_fail(text, room, -EACCES, "the program's user may not open it");
	tool = make_slot();
	if (!tool)
		return text_fail(text, room, -ENOSPC, "too many tools in one process");
	tool->page->handle = (uint64_t)open_within(boot, load, file, text, room);
	if (!tool->page->handle)
		return -ENOEXEC;
	twin = find_twin(tool);
	if (twin)
		return join_twin(boot, tool, twin, load, text, room);
	tool->page->is_plain = !!(load->header.flags & CONTROL_PLAIN);
	tool->page->by_content = !!(load->header.flags & CONTROL_BY_CONTENT);
	tool->page->identity = load->identity;
	text_add(tool->page->path, sizeof(tool->page->path), 0, load->path);
	find_symbols(tool);
	if (tool->page->is_plain || tool->configure || tool->configure_experimental)
		return tool_keep(tool);
	close_tool(boot, tool, load->timeout_ms);
	return text_fail(text, room, -ENOEXEC, no_tool);
}

/* A library loaded as plain may later be loaded as a tool. */
static int tool_claim(struct tool *tool, const struct control_load *load, char *text, size_t room)
{
	if (!(load->header.flags & CONTROL_PLAIN) && tool->page->is_plain) {
		if (!tool->configure && !tool->configure_experimental)
			return text_fail(text, room, -ENOEXEC, no_tool);
		tool->page->is_plain = 0;
	}
	return (int)tool->index;
}

int tools_load(const struct boot_context *boot, const struct control_load *load,
	       struct descriptor *file, char *text, size_t room)
{
	struct tool *known = tool_find_identity(&load->identity);
	int slot = known ? (int)known->index : open_new(boot, load, file, text, room);

	if (slot >= 0)
		tools[slot].is_apart = load->header.flags & CONTROL_APART;
	return slot < 0 ? slot : tool_claim(&tools[slot], load, text, room);
}

int tools_add_function(void *configure)
{
	struct tool *tool;

	for (unsigned i = 0; i < tools_count(); i++)
		if (tools[i].configure == configure)
			return (int)i;
	tool = make_slot();
	if (!tool)
		return -ENOSPC;
	tool->configure = configure;
	text_add(tool->page->path, sizeof(tool->page->path), 0, "(the program itself)");
	tool->page->handle = (uint64_t)&agent_page; /* any value but 0; it is never closed */
	return tool_keep(tool);
}

unsigned tools_close(const struct boot_context *boot, uint32_t timeout_ms)
{
	unsigned staying = 0;

	for (unsigned i = tools_count(); i-- > 0;)
		if (tools[i].page->handle)
			staying += !close_tool(boot, &tools[i], timeout_ms);
	if (!staying)
		agent_page.tool_count = 0;
	return staying;
}
