/*
 * The smallest tool: a plain library whose constructor looks around in the process it was loaded
 * into and writes one line to the file that HELLO_OUTPUT names.  It runs inside somebody else's
 * program, so it prints nothing there, leaves errno alone, and does nothing when the variable is
 * not set.
 *
 *   limpet attach PID --tool hello_tool.so --env HELLO_OUTPUT=/tmp/hello --env HELLO_NAME=you
 */
#define _GNU_SOURCE
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

__attribute__((constructor)) static void hello_begin(void)
{
	const char *path = getenv("HELLO_OUTPUT");
	int saved_errno = errno;

	if (path && strlen(path) < sizeof(output_path)) {
		strcpy(output_path, path);
		hello_write();
	}
	errno = saved_errno;
}

/* Runs with --unload, or when the program ends. */
__attribute__((destructor)) static void hello_end(void)
{
	int saved_errno = errno;
	char line[LINE_BYTES];

	if (output_path[0]) {
		snprintf(line, sizeof(line), "goodbye from %s, pid %d\n",
			 program_invocation_short_name, getpid());
		line_write(line);
	}
	errno = saved_errno;
}
