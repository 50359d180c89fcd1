/*
 * Reads it from /proc/PID/task/TID/status.
 */
#include "host/process/inner_number.h"

#include "host/core/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last number in its list. */
pid_t inner_number(pid_t pid, pid_t tid)
{
	char path[64], text[4096];
	const char *line, *last = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (text_read_small(path, text, sizeof(text)) <= 0)
		return tid;
	line = strstr(text, "\nNSpid:");
	for (const char *at = line ? line + 7 : ""; *at && *at != '\n'; at++)
		if (*at == '\t')
			last = at + 1;
	return last ? (pid_t)strtol(last, NULL, 10) : tid;
}
