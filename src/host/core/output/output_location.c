/*
 * Finds the location of an output and makes new files there.
 */
#include "host/core/output/output_location.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"

#define LINKS_MAX    16
#define DRAFT_TRIES  64
#define BEGIN_BYTES  512
#define OWNER_ALONE  0600
#define NEVER_FOLLOW (O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

int output_explain(int code, const char *path, struct err *err)
{
	err_set(err, code, "write '%s': %s", path, strerror(-code));
	if (code == -ENOSPC || code == -EDQUOT)
		err_fix(err, "write to another disk with -o FILE, or free some space");
	return code;
}

void output_location_done(struct output_location *location)
{
	if (location->folder >= 0)
		close(location->folder);
	if (location->stream >= 0)
		close(location->stream);
	*location = OUTPUT_LOCATION_NONE;
}

/* The number in "/dev/fd/NUMBER", or -1. */
static int descriptor_named(const char *path)
{
	static const struct {
		const char *path;
		int fd; /* -1: a number follows */
	} names[] = { { "/dev/stdout", STDOUT_FILENO },
		      { "/dev/stderr", STDERR_FILENO },
		      { "/dev/fd/", -1 },
		      { "/proc/self/fd/", -1 } };
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct text rest = text_of(path);

		if (!text_take_prefix(&rest, names[i].path))
			continue;
		if (names[i].fd >= 0 && rest.at == rest.end)
			return names[i].fd;
		if (names[i].fd < 0 && !text_parse_number(rest.at, INT_MAX, &number))
			return (int)number;
	}
	return -1;
}

bool output_is_trusted(const struct stat *present)
{
	/* A group of the owner's number is hers alone, as distributions make them. */
	bool is_private = present->st_gid == present->st_uid || !(present->st_mode & S_IWGRP);

	return (present->st_uid == geteuid() || present->st_uid == 0) && is_private &&
	       !(present->st_mode & S_IWOTH);
}

/* A pipe or a device, as it is. */
static int open_stream(struct output_location *location, const struct stat *seen, const char *path,
		       struct err *err)
{
	CLEANUP(close) int fd = openat(location->folder, location->name, O_WRONLY | NEVER_FOLLOW);
	struct stat present;

	if (fd < 0 || fstat(fd, &present) < 0)
		return output_explain(-errno, path, err);
	if (present.st_dev != seen->st_dev || present.st_ino != seen->st_ino)
		return output_explain(-EAGAIN, path, err); /* another one than a moment ago */
	close(TAKE_FD(location->folder));
	location->stream = TAKE_FD(fd);
	return 0;
}

static int open_folder(struct output_location *location, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	CLEANUP(free) char *folder = slash ? strndup(path, (size_t)(name - path)) : strdup(".");

	if (!folder)
		return -ENOMEM;
	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(location->name, name, strlen(name) + 1);
	location->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return location->folder < 0 ? -errno : 0;
}

/* The path of a link's target, which the caller frees; NULL: errno. */
static char *link_target(const struct output_location *location, const char *path)
{
	const char *slash = strrchr(path, '/');
	char target[PATH_MAX], *joined;
	ssize_t size = readlinkat(location->folder, location->name, target, sizeof(target) - 1);
	int folder = slash ? (int)(slash + 1 - path) : 0;

	if (size < 0)
		return NULL;
	target[size] = '\0';
	if (target[0] == '/')
		return strdup(target);
	return asprintf(&joined, "%.*s%s", folder, path, target) < 0 ? NULL : joined;
}

/* 1: `*at` is a link to `*ret_next`; 0: found; -errno: with the reason in err. */
static int output_location_resolve(struct output_location *location, const char *at,
				   char **ret_next, const char *path, struct err *err)
{
	struct stat folder, present;
	int r = open_folder(location, at);

	if (r || fstat(location->folder, &folder) < 0)
		return output_explain(r ? r : -errno, path, err);
	location->mode = OWNER_ALONE;
	if (fstatat(location->folder, location->name, &present, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : output_explain(-errno, path, err);
	if (S_ISDIR(present.st_mode))
		return output_explain(-EISDIR, path, err);
	if (S_ISLNK(present.st_mode)) {
		if (!output_is_trusted(&folder)) {
			err_set(err, -ELOOP, "write '%s': it is a link", path);
			err_why(err,
				"others can write in its folder, so it may be theirs; it was not followed");
			return err_fix(
				err,
				"name another file, or the one that the link leads to, with -o FILE");
		}
		*ret_next = link_target(location, at);
		return *ret_next ? 1 : output_explain(errno ? -errno : -ENOMEM, path, err);
	}
	if (!S_ISREG(present.st_mode)) {
		if (output_is_trusted(&folder) || present.st_uid == geteuid() || !present.st_uid)
			return open_stream(location, &present, path, err);
		err_set(err, -EPERM, "write '%s': it is a pipe or a device of another user", path);
		err_why(err, "others can write in its folder, and would get what is written");
		return err_fix(err, "name another file with -o FILE");
	}
	location->is_taken = true;
	location->is_empty = present.st_size == 0;
	if (output_is_trusted(&folder) && present.st_uid == geteuid())
		location->mode = present.st_mode & 0666;
	return 0;
}

int output_location_find(struct output_location *ret, const char *path, struct err *err)
{
	CLEANUP(output_location_done) struct output_location location = OUTPUT_LOCATION_NONE;
	CLEANUP(free) char *at = strdup(path);
	int fd = descriptor_named(path), r = at ? 1 : output_explain(-ENOMEM, path, err);

	/* A redirected descriptor keeps its position. */
	if (fd >= 0) {
		ret->stream = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		return ret->stream < 0 ? output_explain(-errno, path, err) : 0;
	}
	for (int links = 0; at && r == 1; links++) {
		char *next = NULL;

		output_location_done(&location);
		r = links < LINKS_MAX ? output_location_resolve(&location, at, &next, path, err)
				      : output_explain(-ELOOP, path, err);
		free(at);
		at = next;
	}
	if (r)
		return r;
	*ret = location;
	location = OUTPUT_LOCATION_NONE;
	return 0;
}

int output_location_create(const struct output_location *location, const char *name)
{
	int fd = openat(location->folder, name, O_WRONLY | O_CREAT | O_EXCL | NEVER_FOLLOW,
			OWNER_ALONE);

	if (fd < 0)
		return -errno;
	if (location->mode != OWNER_ALONE)
		fchmod(fd, location->mode);
	return fd;
}

/* The first bytes of the existing file; how many, or -1. */
static ssize_t read_begin(const struct output_location *location, void *ret, size_t size)
{
	CLEANUP(close)
	int fd = openat(location->folder, location->name, O_RDONLY | O_NONBLOCK | NEVER_FOLLOW);

	return fd < 0 ? -1 : pread(fd, ret, size, 0);
}

int output_refuse_stranger(const char *path, const char *difference, struct err *err)
{
	err_set(err, -EEXIST, "write '%s': there is a file that limpet has not made", path);
	err_why(err, "it %s, or cannot be read; it was left as it is", difference);
	return err_fix(err, "choose another name with -o FILE, or remove it");
}

int output_check_stranger(const struct output_location *location, const char *path,
			  const char *pattern, struct err *err)
{
	char begin[BEGIN_BYTES + 1] = "";
	ssize_t size;

	if (!location->is_taken || location->is_empty)
		return 0;
	size = read_begin(location, begin, BEGIN_BYTES);
	for (ssize_t i = 0; i < size; i++)
		begin[i] = begin[i] ? begin[i] : '.';
	if (size >= 0 && !fnmatch(pattern, begin, 0))
		return 0;
	return output_refuse_stranger(path, "does not look like this kind of file", err);
}

bool output_location_begins_with(const struct output_location *location, const void *mark,
				 size_t size)
{
	char begin[16];

	return location->is_taken && size <= sizeof(begin) &&
	       read_begin(location, begin, size) == (ssize_t)size && !memcmp(begin, mark, size);
}

/* ".NAME.0123456789abcdef"; a long name is cut. */
static int name_draft(const struct output_location *location, char ret[NAME_MAX + 1])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -EIO;
	snprintf(ret, NAME_MAX + 1, ".%.200s.%016" PRIx64, location->name, number);
	return 0;
}

int output_location_draft(const struct output_location *location, char ret_name[NAME_MAX + 1])
{
	int r = -EEXIST;

	for (unsigned i = 0; r == -EEXIST && i < DRAFT_TRIES; i++) {
		r = name_draft(location, ret_name);
		if (!r)
			r = output_location_create(location, ret_name);
	}
	return r;
}

int output_location_draft_folder(const struct output_location *location,
				 char ret_name[NAME_MAX + 1])
{
	CLEANUP(close) int fd = -1;
	struct stat present;
	int r = name_draft(location, ret_name);

	if (r)
		return r;
	if (mkdirat(location->folder, ret_name, 0700) < 0)
		return -errno;
	fd = openat(location->folder, ret_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &present) < 0)
		return -errno;
	/* The folder's owner may have replaced it. */
	if (present.st_uid != geteuid() || present.st_mode & (S_IRWXG | S_IRWXO))
		return -EPERM;
	return TAKE_FD(fd);
}
