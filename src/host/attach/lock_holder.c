/*
 * Looks it up in /proc/locks.  Host only.
 */
#include "host/attach/lock_holder.h"

#include "shared/base/macros.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* "1: FLOCK  ADVISORY  WRITE 1234 00:15:4026 0 EOF"; those who wait have an arrow instead. */
static bool is_lock_of(const char *line, const struct stat *file, pid_t *ret)
{
	unsigned major, minor;
	unsigned long inode;
	int pid;

	if (sscanf(line, "%*d: FLOCK ADVISORY %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) != 4)
		return false;
	*ret = MAX(pid, 0);
	return inode == file->st_ino && major == major(file->st_dev) &&
	       minor == minor(file->st_dev);
}

pid_t lock_holder(int fd)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct stat file;
	pid_t holder = 0;
	bool is_found = false;

	if (!locks)
		return 0;
	while (!fstat(fd, &file) && !is_found && fgets(line, sizeof(line), locks))
		is_found = is_lock_of(line, &file, &holder);
	fclose(locks);
	return is_found ? holder : 0;
}
