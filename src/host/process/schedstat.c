/*
 * Parses /proc/PID/task/TID/schedstat: two times and a count.
 */
#include "host/process/schedstat.h"

#include "host/core/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool take_number(struct text *rest, uint64_t *ret)
{
	struct text word;

	return text_take_word(rest, &word) && text_take_number(&word, 10, ret);
}

int schedstat_parse(const char *text, size_t size, struct schedstat *ret)
{
	struct text rest = { text, text + size };
	struct schedstat read;

	if (!take_number(&rest, &read.run_ns) || !take_number(&rest, &read.wait_ns) ||
	    !take_number(&rest, &read.turns))
		return -EBADMSG;
	*ret = read;
	return 0;
}

int schedstat_read(pid_t pid, pid_t tid, struct schedstat *ret)
{
	char path[64], text[128];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	size = text_read_small(path, text, sizeof(text));
	return size < 0 ? (int)size : schedstat_parse(text, (size_t)size, ret);
}
