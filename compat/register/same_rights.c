/*
 * A program may give up rights on its own threads only.  A thread of ours that still has them, or
 * escaped a filter, must not run what a visitor brings.  Runs inside the target on the helper
 * thread.
 */
#include "compat/register/same_rights.h"

#include "shared/base/macros.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MAX 8192

static const char *const keys[] = {
	"\nUid:",    "\nGid:",    "\nGroups:",     "\nCapInh:",  "\nCapPrm:",          "\nCapEff:",
	"\nCapBnd:", "\nCapAmb:", "\nNoNewPrivs:", "\nSeccomp:", "\nSeccomp_filters:",
};

static bool read_status(const char *path, char *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, ret, STATUS_MAX - 1) : -1;

	if (fd >= 0)
		close(fd);
	ret[size > 0 ? size : 0] = '\0';
	return size > 0;
}

/* A line that neither has is the same: an older kernel knows it not. */
static bool is_same_line(const char *one, const char *other, const char *key)
{
	size_t length;

	one = strstr(one, key);
	other = strstr(other, key);
	if (!one || !other)
		return one == other;
	length = strcspn(one + 1, "\n") + 1;
	return !strncmp(one, other, length) && strcspn(other + 1, "\n") + 1 == length;
}

bool has_same_rights(void)
{
	char path[48], ours[STATUS_MAX], theirs[STATUS_MAX];

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)getpid());
	if (!read_status("/proc/thread-self/status", ours) || !read_status(path, theirs))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!is_same_line(ours, theirs, keys[i]))
			return false;
	return true;
}
