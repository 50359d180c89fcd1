/*
 * Asks /proc, by names: a descriptor of ours could be closed by the program.
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

/* Older kernels lack some namespaces. */
int place_read(const char *folder, struct place *ret)
{
	int r = place_read_root(folder, ret);

	for (unsigned i = ROOT + 1; !r && i < PLACE_FILES; i++) {
		r = file_read(folder, i, ret);
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

bool place_is_same(const struct place *a, const struct place *b)
{
	for (unsigned i = 0; i < PLACE_FILES; i++)
		if (a->files[i].device != b->files[i].device ||
		    a->files[i].inode != b->files[i].inode)
			return false;
	return true;
}
