/*
 * Keeps unwind tables on disk.  Files appear complete, by rename; they are mapped, and never
 * changed in place.
 */
#include "host/unwind/tables/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/room.h"
#include "host/unwind/tables/source.h"

#define MAGIC        0x646e69776e75706cu /* "lpunwind" */
#define VERSION      36u                 /* of this file's layout and of the meaning of rows */
#define NAME_SIZE    80
#define BUILD_ID_MIN 8u
#define BUILD_ID_MAX 32u
#define TOUCH_S      3600   /* a time of use this recent is not updated */
#define DRAFT_S      3600   /* an older draft is abandoned */
#define NAMES        65536u /* read in one scan */

struct cache_header {
	uint64_t magic;
	uint32_t version, row_size;
	uint64_t source;   /* fingerprint of the table's input */
	uint64_t contents; /* fingerprint of what follows the header */
	uint64_t first;
	uint32_t row_count, special_count, page_count, reserved;
	uint64_t header; /* fingerprint of the fields above */
};

static uint64_t header_fingerprint(const struct cache_header *header)
{
	return fingerprint(FINGERPRINT_BEGIN, header, offsetof(struct cache_header, header));
}

/* Only this user may write there. */
static bool is_ours(int fd, mode_t type, mode_t forbidden)
{
	struct stat facts;

	return !fstat(fd, &facts) && (facts.st_mode & S_IFMT) == type &&
	       facts.st_uid == geteuid() && !(facts.st_mode & forbidden);
}

static int folder_checked(int fd, mode_t forbidden)
{
	if (fd < 0)
		return -errno;
	if (is_ours(fd, S_IFDIR, forbidden))
		return fd;
	close(fd);
	return -EPERM;
}

static int open_folder(int parent, const char *name, bool is_made)
{
	if (is_made && mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return folder_checked(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			      S_IWGRP | S_IWOTH);
}

/* The folder above limpet's: of XDG, or ~/.cache.  A home folder of another user (sudo) is not
 * used. */
static int open_base(bool is_made)
{
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	CLEANUP(close) int folder = -1;

	if (base && base[0] == '/')
		return folder_checked(open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				      S_IWGRP | S_IWOTH);
	if (!home || home[0] != '/')
		return -ENOENT;
	folder = folder_checked(open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
	return folder < 0 ? folder : open_folder(folder, ".cache", is_made);
}

static int open_cache(bool is_made)
{
	CLEANUP(close) int base = open_base(is_made);
	CLEANUP(close) int limpet = -1;

	if (base < 0)
		return base;
	limpet = open_folder(base, "limpet", is_made);
	return limpet < 0 ? limpet : open_folder(limpet, "unwind", is_made);
}

static bool make_name(const unsigned char *build_id, unsigned size, char *ret)
{
	if (size < BUILD_ID_MIN || size > BUILD_ID_MAX)
		return false;
	for (unsigned i = 0; i < size; i++)
		snprintf(ret + 2 * i, 3, "%02x", build_id[i]);
	return true;
}

static size_t contents_size(const struct cache_header *header)
{
	return header->row_count * sizeof(struct unwind_row) +
	       header->special_count * sizeof(struct unwind_special) +
	       header->page_count * sizeof(uint32_t);
}

static bool is_sound(const struct cache_header *header, size_t size, uint64_t source)
{
	return size >= sizeof(*header) && header->magic == MAGIC && header->version == VERSION &&
	       header->row_size == sizeof(struct unwind_row) && header->source == source &&
	       header->header == header_fingerprint(header) && header->row_count > 0 &&
	       header->page_count > 0 && size == sizeof(*header) + contents_size(header) &&
	       header->contents ==
		       fingerprint(FINGERPRINT_BEGIN, header + 1, contents_size(header));
}

static struct unwind_table *table_of(const struct cache_header *header, size_t size)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	const struct unwind_row *rows = (const struct unwind_row *)(header + 1);
	const struct unwind_special *specials =
		(const struct unwind_special *)(rows + header->row_count);

	if (!table)
		return NULL;
	*table = (struct unwind_table){
		.first = header->first,
		.rows = rows,
		.row_count = header->row_count,
		.specials = specials,
		.special_count = header->special_count,
		.pages = (const uint32_t *)(specials + header->special_count),
		.page_count = header->page_count,
		.block = (void *)(uintptr_t)header,
		.block_size = size,
		.is_mapped = true,
	};
	return table;
}

static struct unwind_table *map_table(int fd, uint64_t source)
{
	struct unwind_table *table = NULL;
	struct stat facts;
	void *block;

	if (!is_ours(fd, S_IFREG, S_IWGRP | S_IWOTH) || fstat(fd, &facts) < 0 ||
	    (size_t)facts.st_size < sizeof(struct cache_header) ||
	    (size_t)facts.st_size > CACHE_TABLE_MAX)
		return NULL;
	block = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (block == MAP_FAILED)
		return NULL;
	if (is_sound(block, (size_t)facts.st_size, source))
		table = table_of(block, (size_t)facts.st_size);
	if (!table)
		munmap(block, (size_t)facts.st_size);
	return table;
}

struct unwind_table *unwind_cache_load(const unsigned char *build_id, unsigned build_id_size,
				       uint64_t source_fingerprint)
{
	CLEANUP(close) int folder = open_cache(false);
	CLEANUP(close) int fd = -1;
	char name[NAME_SIZE];
	struct stat facts;

	if (folder < 0 || !make_name(build_id, build_id_size, name))
		return NULL;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	/* Notes that a table was used: trimming removes the least recently used ones. */
	if (!fstat(fd, &facts) && facts.st_mtim.tv_sec + TOUCH_S < time(NULL))
		(void)!futimens(fd, NULL);
	return map_table(fd, source_fingerprint);
}

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

/* Other processes may do the same at once: a file that is gone is skipped, and a mapped table stays
 * valid. */
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

static struct cache_header header_of(const struct unwind_table *table, uint64_t source)
{
	struct cache_header header = {
		.magic = MAGIC,
		.version = VERSION,
		.row_size = sizeof(struct unwind_row),
		.source = source,
		.first = table->first,
		.row_count = table->row_count,
		.special_count = table->special_count,
		.page_count = table->page_count,
	};

	header.contents = fingerprint(FINGERPRINT_BEGIN, table->rows, contents_size(&header));
	header.header = header_fingerprint(&header);
	return header;
}

void unwind_cache_store(const unsigned char *build_id, unsigned build_id_size,
			uint64_t source_fingerprint, const struct unwind_table *table)
{
	struct cache_header header = header_of(table, source_fingerprint);
	CLEANUP(close) int folder = open_cache(true);
	CLEANUP(close) int fd = -1;
	char name[NAME_SIZE], draft[NAME_SIZE + 32];

	if (folder < 0 || !make_name(build_id, build_id_size, name) ||
	    sizeof(header) + contents_size(&header) > CACHE_TABLE_MAX)
		return;
	snprintf(draft, sizeof(draft), ".%s.%d", name, (int)getpid());
	unlinkat(folder, draft, 0);
	fd = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (descriptor_write(fd, &header, sizeof(header)) ||
	    descriptor_write(fd, table->rows, contents_size(&header)) ||
	    renameat(folder, draft, folder, name) < 0)
		unlinkat(folder, draft, 0);
	unwind_cache_trim(folder);
}
