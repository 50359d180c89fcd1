#include "compute_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void folder_remove(void)
{
	DIR *list = opendir(folder);

	for (const struct dirent *entry; list && (entry = readdir(list));)
		if (entry->d_name[0] != '.')
			(void)unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
	rmdir(folder);
}

const char *compute_folder(void)
{
	if (folder[0])
		return folder;
	snprintf(folder, sizeof(folder), "/tmp/fuzz-compute-XXXXXX");
	must(mkdtemp(folder) != NULL);
	atexit(folder_remove);
	return folder;
}

void compute_file(const char *name, const uint8_t *bytes, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", compute_folder(), name);
	if (!size) {
		(void)unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}
