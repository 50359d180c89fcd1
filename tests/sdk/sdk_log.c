/*
 * The log of our tools: one write for each line.
 */
#include "sdk_tool.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void log_line(const char *format, ...)
{
	const char *path = getenv("SDK_LOG");
	char line[1024];
	va_list list;
	int file, length;

	va_start(list, format);
	length = vsnprintf(line, sizeof(line) - 1, format, list);
	va_end(list);
	if (!path || length < 0)
		return;
	if ((size_t)length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (file < 0)
		return;
	if (write(file, line, (size_t)length) < 0)
		line[0] = 0;
	close(file);
}

void log_wrong(int status, const char *what)
{
	if (status)
		log_line("wrong %s: %d", what, status);
}
