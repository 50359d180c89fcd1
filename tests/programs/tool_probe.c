/*
 * A tool library for tests: its constructor appends what it saw to the file that the environment
 * variable LIMPET_TEST_OUT names, its destructor says that it was unloaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef PROBE_NAME
#define PROBE_NAME "probe"
#endif

static char out_path[512];

static void line_write(const char *event)
{
	const char *value = getenv("LIMPET_TEST_VALUE");
	Dl_info self = { 0 };
	char line[1024];
	int fd, length;

	dladdr((void *)line_write, &self);
	length = snprintf(line, sizeof(line), "%s %s pid=%d tid=%d value=%s path=%s\n", PROBE_NAME,
			  event, getpid(), gettid(), value ? value : "-",
			  self.dli_fname ? self.dli_fname : "-");
	fd = open(out_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)length) != length)
		out_path[0] = '\0';
	close(fd);
}

__attribute__((constructor)) static void probe_begin(void)
{
	const char *path = getenv("LIMPET_TEST_OUT");

	if (!path)
		return;
	snprintf(out_path, sizeof(out_path), "%s", path);
	line_write("loaded");
}

__attribute__((destructor)) static void probe_end(void)
{
	if (out_path[0])
		line_write("unloaded");
}
