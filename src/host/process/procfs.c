/*
 * Reads files below /proc/PID.  Host only; stops nothing, needs no right that the file itself does
 * not ask for.
 */
#include "host/process/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/core/text.h"

/* 262144 mappings (a common vm.max_map_count) of long paths stay below this. */
#define PROC_MAX_BYTES (256u * 1024 * 1024)

static void proc_path(pid_t pid, const char *name, char *path, size_t capacity)
{
	snprintf(path, capacity, "/proc/%d/%s", (int)pid, name);
}

int proc_error(pid_t pid, const char *name, int code, struct err *err)
{
	if (code == -ENOENT || code == -ESRCH) {
		err_set(err, -ESRCH, "there is no process %d", (int)pid);
		return err_exit(err, EXIT_NO_PROCESS);
	}
	err_set(err, code, "read /proc/%d/%s: %s", (int)pid, name, strerror(-code));
	if (code == -EACCES || code == -EPERM)
		err_exit(err, EXIT_NOT_PERMITTED);
	return code;
}

int proc_read(pid_t pid, const char *name, char **ret, size_t *ret_size, struct err *err)
{
	char path[96];
	int r;

	proc_path(pid, name, path, sizeof(path));
	r = text_read_file(path, PROC_MAX_BYTES, ret, ret_size);
	return r < 0 ? proc_error(pid, name, r, err) : 0;
}

ssize_t proc_read_small(pid_t pid, const char *name, char *buffer, size_t capacity, struct err *err)
{
	char path[96];
	ssize_t size;

	proc_path(pid, name, path, sizeof(path));
	size = text_read_small(path, buffer, capacity);
	return size < 0 ? proc_error(pid, name, (int)size, err) : size;
}

ssize_t proc_read_link(pid_t pid, const char *name, char *buffer, size_t capacity)
{
	char path[96];
	ssize_t size;

	proc_path(pid, name, path, sizeof(path));
	size = readlink(path, buffer, capacity - 1);
	if (size < 0)
		return -errno;
	buffer[size] = '\0';
	return size;
}
