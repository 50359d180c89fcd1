/*
 * Attaches from inside. Runs on an application thread; all foreign code runs on the runner's
 * threads, as in an attach from outside.
 */
#include "target/agent/inprocess.h"

#include "shared/arch/syscall.h"
#include "target/agent/agent.h"
#include "target/amd/engine.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/lifecycle/lifecycle.h"
#include "target/lifecycle/tools.h"
#include "target/runtime/identity.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/mapping.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define EXPORT      __attribute__((visibility("default")))
#define PAIRS_BYTES (CONTROL_MAX_BYTES - sizeof(struct control_environ) - 128)

static const char markers[] = ATTACHED_MARKERS;

/* Contains only the caller's functions, which are all that tools need. */
static struct boot_context context_of(const struct boot_libc *libc)
{
	return (struct boot_context){ .magic = BOOT_MAGIC, .libc = *libc };
}

static bool is_separator(char c)
{
	return c == ':' || c == ',' || c == ' ';
}

/* Copies the next name of the list, false at its end; a cut name is not found later. */
static bool next_name(const char **list, char *ret, size_t room)
{
	size_t length = 0;

	while (is_separator(**list))
		(*list)++;
	for (; **list && !is_separator(**list); (*list)++)
		if (length + 1 < room)
			ret[length++] = **list;
	ret[length] = 0;
	return length > 0;
}

/* Same identity as the host computes: so a tool is recognized from both sides. */
static struct tool_identity tool_identify(const char *path)
{
	struct tool_identity identity = { 0 };
	struct stat file;

	if (raw4(SYS_newfstatat, AT_FDCWD, path, &file, 0) >= 0)
		identity = (struct tool_identity){
			file.st_dev,
			file.st_ino,
			(uint64_t)file.st_size,
			(uint64_t)file.st_mtim.tv_sec * 1000000000u +
				(uint64_t)file.st_mtim.tv_nsec,
		};
	else /* a name for the loader's search path: hashes its letters */
		for (size_t i = 0; path[i]; i++)
			identity.inode = identity.inode * 31 + (unsigned char)path[i];
	return identity;
}

static int tool_load(const struct boot_context *boot, const char *name, char *text, size_t room)
{
	struct control_load order = { .timeout_ms = LIFECYCLE_TIMEOUT_MS };
	struct descriptor none = descriptor_own(-1);
	char reason[CONTROL_TEXT_MAX] = "";
	int r = lifecycle_enter();

	if (r)
		return r;
	control_header_init(&order.header, CONTROL_LOAD, sizeof(order));
	text_add(order.path, sizeof(order.path), 0, name);
	order.identity = tool_identify(order.path);
	r = tools_load(boot, &order, &none, reason, sizeof(reason));
	lifecycle_leave();
	if (r < 0)
		text_add_complaint(text, room, name, reason);
	return r;
}

/* Runs one step for each tool; a tool that fails skips all later steps. */
static void run_step(const struct boot_context *boot, int *list, size_t count, enum tool_step step,
		     char *text, size_t room)
{
	for (size_t i = 0; i < count; i++) {
		char reason[CONTROL_TEXT_MAX] = "";

		if (list[i] < 0 || !lifecycle_step(boot, (unsigned)list[i], step,
						   LIFECYCLE_TIMEOUT_MS, reason, sizeof(reason)))
			continue;
		text_add_complaint(text, room, tool_name(&tools[list[i]]), reason);
		list[i] = -1;
	}
}

static int tools_walk(const struct boot_context *boot, int *list, size_t count, enum tool_step last,
		      char *text, size_t room)
{
	for (enum tool_step step = STEP_CONFIGURE; step <= last; step++)
		run_step(boot, list, count, step, text, room);
	return text[0] ? -ENOEXEC : 0;
}

static int walk_names(const struct boot_context *boot, const char *names, enum tool_step last,
		      char *text, size_t room)
{
	char name[TOOL_PATH_MAX];
	int list[AGENT_TOOLS_MAX];
	size_t count = 0;

	while (count < AGENT_TOOLS_MAX && next_name(&names, name, sizeof(name)))
		list[count++] = tool_load(boot, name, text, room);
	return count ? tools_walk(boot, list, count, last, text, room)
		     : text_fail(text, room, -EINVAL, "the list of tools is empty");
}

/* The length of `count` pairs, or 0 if a pair has no end. */
static size_t pairs_length(const char *bytes, size_t size, uint32_t count)
{
	uint32_t ends = 0;
	size_t at = 0;

	while (ends < 2u * count && at < size)
		ends += !bytes[at++];
	return ends == 2u * count ? at : 0;
}

/* Builds one message of AMD's buffer and the marker variables of an attach. */
static int buffer_decode(const char *buffer, struct control_environ *ret)
{
	char *pairs = (char *)(ret + 1);
	uint32_t count = 0;
	long size = 0;

	control_header_init(&ret->header, CONTROL_ENVIRON, sizeof(*ret));
	if (buffer && memory_read(buffer, &count, sizeof(count)) != sizeof(count))
		return -EFAULT;
	if (count > PAIRS_BYTES / 2)
		return -EINVAL;
	if (count)
		size = memory_read(buffer + sizeof(count), pairs, PAIRS_BYTES);
	if (size < 0)
		return -EFAULT;
	size = (long)pairs_length(pairs, (size_t)size, count);
	if (count && !size)
		return -EINVAL;
	memcpy(pairs + size, markers, sizeof(markers) - 1);
	ret->count = count + ATTACHED_MARKER_COUNT;
	ret->bytes = (uint32_t)size + sizeof(markers) - 1;
	ret->header.size = (uint32_t)sizeof(*ret) + ret->bytes;
	return 0;
}

static int variables_publish(const char *buffer, char *text, size_t room)
{
	union {
		struct control_environ list;
		char bytes[CONTROL_MAX_BYTES];
	} message;
	int r = buffer_decode(buffer, &message.list);

	if (r)
		return text_fail(text, room, -EINVAL, "the environment buffer is malformed");
	r = environment_publish(&message.list);
	return r ? text_fail(text, room, r, "the variables could not be published") : 0;
}

/* True if a host is attached from outside, in this process. */
static bool is_held(void)
{
	return page_is_own() && agent_page.control_tid;
}

static void boot_begin(const struct boot_libc *libc)
{
	libc_calls_use(libc, /* shared */ NULL);
	forks_allow_calls(identity_is_unfiltered());
	agent_stay();
	delivery_learn(libc);
	if (!page_is_own()) {
		lifecycle_adopt();
		agent_page.pid = (int32_t)raw0(SYS_getpid);
	}
	if (!agent_page.loaded_ns)
		agent_page.loaded_ns = kernel_clock_ns(CLOCK_BOOTTIME);
}

EXPORT int limpet_inprocess_attach(const struct boot_libc *libc, const char *environment,
				   const char *names, char *text, size_t room)
{
	struct boot_context boot = context_of(libc);
	int r;

	text[0] = 0;
	if (!names)
		return text_fail(text, room, -EINVAL, "no tool was named");
	if (is_held())
		return text_fail(text, room, -EBUSY, "limpet is attached from outside");
	boot_begin(libc);
	r = variables_publish(environment, text, room);
	if (r)
		return r;
	agent_page.attaches++;
	r = walk_names(&boot, names, STEP_ATTACH, text, room);
	if (r == -EINVAL)
		environment_restore();
	else
		page_set_state(AGENT_STATE_ATTACHED);
	return r;
}

EXPORT int limpet_inprocess_start(const struct boot_libc *libc, const char *names, char *text,
				  size_t room)
{
	struct boot_context boot = context_of(libc);

	text[0] = 0;
	boot_begin(libc);
	return walk_names(&boot, names, STEP_INITIALIZE, text, room);
}

EXPORT int limpet_inprocess_start_function(const struct boot_libc *libc, void *configure,
					   char *text, size_t room)
{
	struct boot_context boot = context_of(libc);
	int tool = -1, r = lifecycle_enter();

	text[0] = 0;
	if (r)
		return r;
	boot_begin(libc);
	tool = tools_add_function(configure);
	lifecycle_leave();
	return tool < 0 ? tool : tools_walk(&boot, &tool, 1, STEP_INITIALIZE, text, room);
}

/* Called by a program that is its own tool. */
EXPORT int rocprofiler_force_configure(void *configure);

/* Without libc's functions, which limpet or its register library would have passed, the threads
 * that a tool needs cannot be created. */
EXPORT int rocprofiler_force_configure(void *configure)
{
	const struct boot_libc *libc = delivery_libc();
	char text[CONTROL_TEXT_MAX];

	if (!configure)
		return SDK_INVALID_ARGUMENT;
	if (tools_count())
		return SDK_CONFIGURATION_LOCKED;
	if (!libc)
		return SDK_NOT_AVAILABLE;
	return limpet_inprocess_start_function(libc, configure, text, sizeof(text)) ? SDK_ERROR
										    : SDK_SUCCESS;
}

EXPORT int limpet_inprocess_detach(const struct boot_libc *libc, char *text, size_t room)
{
	struct boot_context boot = context_of(libc);
	unsigned disobedient;

	text[0] = 0;
	if (is_held())
		return text_fail(text, room, -EBUSY, "limpet is attached from outside");
	disobedient = lifecycle_quiet(&boot, false, LIFECYCLE_TIMEOUT_MS, text, room);
	environment_restore();
	page_set_state(AGENT_STATE_RESTING);
	return disobedient ? -ENOEXEC : 0;
}
