/*
 * The name of a recording that nobody has named.
 */
#include "host/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRIES 1000u

/* A link that leads nowhere is there too. */
static int claim(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int recording_unused_path(pid_t pid, char *ret, size_t room, struct err *err)
{
	int r = -EEXIST;

	for (unsigned i = 1; r == -EEXIST && i < TRIES; i++) {
		if (i == 1)
			snprintf(ret, room, "limpet-%d.limpet", (int)pid);
		else
			snprintf(ret, room, "limpet-%d-%u.limpet", (int)pid, i);
		r = claim(ret);
	}
	if (!r)
		return 0;
	err_set(err, r, "create '%s': %s", ret, strerror(-r));
	return err_fix(err, "-o FILE names another one");
}
