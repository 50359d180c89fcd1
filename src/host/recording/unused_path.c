/*
 * The name of a recording that nobody has named.
 */
#include "host/recording/recording.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TRIES 1000u

/* A link that leads nowhere is there too. */
static bool is_there(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void recording_unused_path(pid_t pid, char *ret, size_t room)
{
	snprintf(ret, room, "limpet-%d.limpet", (int)pid);
	for (unsigned i = 2; is_there(ret) && i < TRIES; i++)
		snprintf(ret, room, "limpet-%d-%u.limpet", (int)pid, i);
}
