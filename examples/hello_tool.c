/*
 * The smallest tool: at each attach it looks around in the process and writes one line to the file
 * that HELLO_OUTPUT names, at each detach another, and a last one when the program ends or the tool
 * is unloaded.  It runs inside somebody else's program, so it prints nothing there, and does
 * nothing when the variable is not set.
 *
 *   limpet attach PID --tool hello_tool.so --env HELLO_OUTPUT=/tmp/hello --env HELLO_NAME=you
 */
#define _GNU_SOURCE
#include <limpet/tool.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LINE_BYTES 2048

/* Kept: the variables of an attach are gone when the library is unloaded. */
static char output_path[PATH_MAX];

static int threads_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;

	if (!tasks)
		return -1;
	for (struct dirent *entry; (entry = readdir(tasks));)
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count;
}

/* Appends " NAME=VALUE" for each variable that is meant for us. */
static void variables_list(char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (char **entry = environ; entry && *entry && used < size; entry++)
		if (strncmp(*entry, "HELLO_", 6) == 0)
			used += (size_t)snprintf(text + used, size - used, " %s", *entry);
}

static void line_write(const char *line)
{
	int fd = open(output_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	/* Nobody can be told when the disk is full. */
	if (write(fd, line, strlen(line)) < 0)
		output_path[0] = '\0';
	close(fd);
}

static void hello_write(void)
{
	char line[LINE_BYTES], variables[LINE_BYTES / 2], thread[16] = "";

	variables_list(variables, sizeof(variables));
	prctl(PR_GET_NAME, thread);
	snprintf(line, sizeof(line), "hello from %s, pid %d: on thread %d (%s) of %d, given%s\n",
		 program_invocation_short_name, getpid(), gettid(), thread, threads_count(),
		 variables);
	line_write(line);
}

static void word_write(const char *word)
{
	char line[LINE_BYTES];

	snprintf(line, sizeof(line), "%s from %s, pid %d\n", word, program_invocation_short_name,
		 getpid());
	if (output_path[0])
		line_write(line);
}

static int hello_initialize(limpet_finalize_function *finalize, void *tool_data)
{
	(void)finalize, (void)tool_data;
	return 0;
}

static void hello_finalize(void *tool_data)
{
	(void)tool_data;
	word_write("goodbye");
}

/* Variables may differ from attach to attach. */
static int hello_attach(limpet_detach_function *detach, struct limpet_context *contexts,
			uint64_t context_count, void *tool_data)
{
	const char *path = getenv("HELLO_OUTPUT");

	(void)detach, (void)contexts, (void)context_count, (void)tool_data;
	if (path && strlen(path) < sizeof(output_path)) {
		snprintf(output_path, sizeof(output_path), "%s", path);
		hello_write();
	}
	return 0;
}

static void hello_detach(void *tool_data)
{
	(void)tool_data;
	word_write("until later");
}

struct limpet_tool *rocprofiler_configure(uint32_t version, const char *runtime_version,
					  uint32_t priority, struct limpet_client *client)
{
	static struct limpet_tool tool = { sizeof(tool), hello_initialize, hello_finalize, NULL };

	(void)version, (void)runtime_version, (void)priority;
	client->name = "hello";
	return &tool;
}

struct limpet_tool_attach *rocprofiler_configure_attach(uint32_t version,
							const char *runtime_version,
							uint32_t priority,
							struct limpet_client *client)
{
	static struct limpet_tool_attach tool = { sizeof(tool), hello_attach, hello_detach, NULL };

	(void)version, (void)runtime_version, (void)priority, (void)client;
	return &tool;
}
