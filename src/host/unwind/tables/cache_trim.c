/*
 * Removes old files of the cache.  Other processes may do the same at once: a file that is gone is
 * skipped, and a mapped table stays valid.
 */
#include "host/unwind/tables/cache_trim.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TOUCH_S 3600   /* a time of use this recent is not updated */
#define DRAFT_S 3600   /* an older draft is abandoned */
#define NAMES   65536u /* read in one scan */

struct kept {
	char name[NAME_MAX + 1];
	int64_t used_s;
	uint64_t bytes;
};

struct folder {
	struct kept *files;
	size_t count, room;
	uint64_t bytes;
};

void unwind_cache_touch(int fd)
{
	struct stat facts;

	if (!fstat(fd, &facts) && facts.st_mtim.tv_sec + TOUCH_S < time(NULL))
		(void)!futimens(fd, NULL);
}

static void add_file(struct folder *self, int fd, const char *name)
{
	struct stat facts;

	if (fstatat(fd, name, &facts, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(facts.st_mode))
		return;
	if (name[0] == '.') {
		if (facts.st_mtim.tv_sec + DRAFT_S < time(NULL))
			unlinkat(fd, name, 0);
		return;
	}
	if (make_room(&self->files, self->count, &self->room, sizeof(*self->files)))
		return;
	self->files[self->count] =
		(struct kept){ .used_s = facts.st_mtim.tv_sec, .bytes = (uint64_t)facts.st_size };
	memcpy(self->files[self->count++].name, name, strlen(name) + 1);
	self->bytes += (uint64_t)facts.st_size;
}

static void folder_list(struct folder *self, int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;

	while (directory && self->count < NAMES && (entry = readdir(directory)))
		add_file(self, fd, entry->d_name);
	if (directory)
		closedir(directory);
	else if (own >= 0)
		close(own);
}

static int by_use(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	return a->used_s < b->used_s ? -1 : a->used_s > b->used_s;
}

void unwind_cache_trim(int folder)
{
	struct folder self = { 0 };
	size_t left;

	folder_list(&self, folder);
	left = self.count;
	if (self.bytes > CACHE_BYTES_MAX || left > CACHE_FILES_MAX) {
		qsort(self.files, self.count, sizeof(*self.files), by_use);
		for (size_t i = 0; i < self.count && (self.bytes > CACHE_BYTES_MAX / 4 * 3 ||
						      left > CACHE_FILES_MAX / 4 * 3);
		     i++, left--) {
			unlinkat(folder, self.files[i].name, 0);
			self.bytes -= self.files[i].bytes;
		}
	}
	free(self.files);
}
