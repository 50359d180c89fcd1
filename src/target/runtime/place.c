/*
 * Reads /proc by path: the target could close a descriptor.
 */
#include "target/runtime/place.h"

#include "shared/arch/syscall.h"
#include "target/runtime/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define PATH_BYTES 96
#define ROOT       0

static const char *const names[PLACE_FILES] = {
	[ROOT] = "/root", "/ns/user", "/ns/mnt",    "/ns/pid_for_children",  "/ns/net",
	"/ns/ipc",        "/ns/uts",  "/ns/cgroup", "/ns/time_for_children",
};

static int file_read(const char *folder, unsigned index, struct place *into)
{
	char path[PATH_BYTES];
	struct stat file;
	long r;

	text_add(path, sizeof(path), text_add(path, sizeof(path), 0, folder), names[index]);
	r = raw4(SYS_newfstatat, AT_FDCWD, path, &file, 0);
	into->files[index].device = r < 0 ? 0 : file.st_dev;
	into->files[index].inode = r < 0 ? 0 : file.st_ino;
	return (int)MIN(r, 0);
}

int place_read_root(const char *folder, struct place *self)
{
	return file_read(folder, ROOT, self);
}

/*
 * Older kernels lack some namespaces, and an ending thread has none. The kernel removes the root
 * first (do_exit: exit_fs, then exit_task_namespaces), so the root is read last: if it is there,
 * the namespaces were.
 */
int place_read(const char *folder, struct place *ret)
{
	for (unsigned i = ROOT + 1; i < PLACE_FILES; i++) {
		int r = file_read(folder, i, ret);

		if (r && r != -ENOENT)
			return r;
	}
	return place_read_root(folder, ret);
}

bool place_is_same(const struct place *a, const struct place *b)
{
	for (unsigned i = 0; i < PLACE_FILES; i++)
		if (a->files[i].device != b->files[i].device ||
		    a->files[i].inode != b->files[i].inode)
			return false;
	return true;
}
