/*
 * Finds the lock in /proc/locks.
 */
#include "host/attach/lock_holder.h"

#include "host/core/text/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool take_device(struct text *line, dev_t *ret)
{
	uint64_t major, minor;

	if (!text_take_number(line, 16, &major) || !text_take_char(line, ':') ||
	    !text_take_number(line, 16, &minor))
		return false;
	*ret = makedev((unsigned)major, (unsigned)minor);
	return true;
}

/* "1: FLOCK  ADVISORY  WRITE 1234 00:15:4026 0 EOF"; waiting processes have an arrow instead. */
static bool is_lock_of(struct text line, const struct stat *file, pid_t *ret)
{
	struct text kind, word;
	uint64_t pid, inode;
	dev_t device;

	if (!text_take_word(&line, &word) || !text_take_word(&line, &kind) ||
	    !text_equals(kind, "FLOCK") || !text_take_word(&line, &word) ||
	    !text_take_word(&line, &word))
		return false;
	text_skip_blanks(&line);
	if (!text_take_number(&line, 10, &pid) || pid > INT_MAX || !text_take_char(&line, ' ') ||
	    !take_device(&line, &device) || !text_take_char(&line, ':') ||
	    !text_take_number(&line, 10, &inode))
		return false;
	*ret = (pid_t)pid;
	return inode == file->st_ino && device == file->st_dev;
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
		is_found = is_lock_of(text_of(line), &file, &holder);
	fclose(locks);
	return is_found ? holder : 0;
}
