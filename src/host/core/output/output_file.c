/*
 * Drafts that become files.
 */
#include "host/core/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/cleanup.h"

static int open_draft(struct output_file *file)
{
	int fd = file->location.stream >= 0 ? TAKE_FD(file->location.stream)
					    : output_location_draft(&file->location, file->draft);

	if (fd < 0) {
		file->draft[0] = '\0';
		return fd;
	}
	file->out = fdopen(fd, "w");
	if (!file->out) {
		close(fd);
		return -ENOMEM;
	}
	/* A lock for each number would take half of the time. */
	__fsetlocking(file->out, FSETLOCKING_BYCALLER);
	return 0;
}

static int make_reachable(struct output_file *file)
{
	struct output_location inside = file->location;
	int fd;

	if (file->location.stream >= 0)
		return -ESPIPE;
	fd = output_location_draft_folder(&file->location, file->own_folder);
	if (fd < 0) {
		file->own_folder[0] = '\0';
		return fd;
	}
	inside.folder = file->own_fd = fd;
	memcpy(file->draft, file->location.name, sizeof(file->draft));
	fd = output_location_create(&inside, file->draft);
	if (fd < 0)
		return fd;
	close(fd);
	snprintf(file->reachable, sizeof(file->reachable), "/proc/self/fd/%d/%s", file->own_fd,
		 file->draft);
	return 0;
}

static int output_file_open(struct output_file *ret, const char *path,
			    int (*open_it)(struct output_file *file), struct err *err)
{
	int r;

	*ret = (struct output_file){ .path = strdup(path),
				     .location = OUTPUT_LOCATION_NONE,
				     .own_fd = -1 };
	r = ret->path ? output_location_find(&ret->location, path, err)
		      : output_explain(-ENOMEM, path, err);
	if (!r && (r = open_it(ret)))
		output_explain(r, path, err);
	if (r)
		output_discard(ret);
	return r;
}

int output_open(struct output_file *ret, const char *path, struct err *err)
{
	return output_file_open(ret, path, open_draft, err);
}

int output_open_named(struct output_file *ret, const char *path, struct err *err)
{
	return output_file_open(ret, path, make_reachable, err);
}

static int draft_folder(const struct output_file *file)
{
	return file->own_fd >= 0 ? file->own_fd : file->location.folder;
}

static int close_out(struct output_file *file)
{
	int r = 0;

	if (!file->out)
		return 0;
	errno = 0;
	if (fflush(file->out) || ferror(file->out))
		r = errno ? -errno : -EIO;
	if (fclose(TAKE(file->out)) && !r)
		r = errno ? -errno : -EIO;
	return r;
}

int output_commit(struct output_file *file, struct err *err)
{
	int r = close_out(file);

	if (!r && file->draft[0] &&
	    renameat(draft_folder(file), file->draft, file->location.folder, file->location.name) <
		    0)
		r = -errno;
	if (r) {
		output_explain(r, file->path, err);
		output_discard(file);
		return r;
	}
	file->draft[0] = '\0';
	return 0;
}

void output_discard(struct output_file *file)
{
	if (!file->path)
		return;
	if (file->out)
		fclose(file->out);
	if (file->draft[0])
		unlinkat(draft_folder(file), file->draft, 0);
	if (file->own_folder[0])
		unlinkat(file->location.folder, file->own_folder, AT_REMOVEDIR);
	if (file->own_fd >= 0)
		close(file->own_fd);
	output_location_done(&file->location);
	free(file->path);
	*file = (struct output_file){ 0 };
}

int output_publish(struct output_begun *file)
{
	int folder = file->location.folder;

	if (!file->draft[0])
		return 0;
	if (renameat(folder, file->draft, folder, file->location.name) < 0)
		return -errno;
	file->draft[0] = '\0';
	return 0;
}

int output_end(struct output_begun *file)
{
	int r = file->fd >= 0 && close(file->fd) < 0 ? -errno : 0;

	if (file->draft[0])
		unlinkat(file->location.folder, file->draft, 0);
	output_location_done(&file->location);
	*file = OUTPUT_BEGUN_NONE;
	return r;
}

void output_abandon(struct output_begun *file)
{
	if (file->location.folder >= 0 && !file->location.is_taken)
		unlinkat(file->location.folder, file->location.name, 0);
	output_end(file);
}

static int begin_at(struct output_begun *file, const char *path, struct err *err)
{
	const struct output_location *location = &file->location;
	int r;

	if (location->stream >= 0)
		file->fd = TAKE_FD(file->location.stream);
	else if (location->is_taken)
		file->fd = output_location_draft(location, file->draft);
	else
		file->fd = output_location_create(location, location->name);
	if (file->fd < 0) {
		file->draft[0] = '\0';
		return output_explain(file->fd, path, err);
	}
	r = location->is_empty ? output_publish(file) : 0;
	return r ? output_explain(r, path, err) : 0;
}

int output_begin(struct output_begun *ret, const char *path, const void *mark, size_t size,
		 struct err *err)
{
	struct output_begun file = OUTPUT_BEGUN_NONE;
	int r = output_location_find(&file.location, path, err);

	if (!r && file.location.is_taken && !file.location.is_empty &&
	    !output_location_begins_with(&file.location, mark, size))
		r = output_refuse_stranger(path, "is not a recording", err);
	if (!r)
		r = begin_at(&file, path, err);
	if (r)
		output_end(&file);
	else
		*ret = file;
	return r;
}

int output_begin_new(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int make_folder(const char *path, mode_t mode, struct err *err)
{
	struct stat present;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return err_set(err, -errno, "make the folder '%s': %s", path, strerror(errno));
	if (stat(path, &present) == 0 && !S_ISDIR(present.st_mode))
		return err_set(err, -ENOTDIR, "'%s' exists and is no folder", path);
	return 0;
}

int output_make_folders(const char *path, struct err *err)
{
	char *folder = strdup(path);
	int r = 0;

	if (!folder)
		return err_set(err, -ENOMEM, "make folders for '%s': no memory", path);
	for (char *slash = folder; !r && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		r = make_folder(folder, 0777, err);
		*slash = '/';
	}
	free(folder);
	return r;
}

int output_make_private_folder(const char *path, struct err *err)
{
	size_t length = strlen(path);
	char *folder = strdup(path);
	int r;

	if (!folder)
		return err_set(err, -ENOMEM, "make the folder '%s': no memory", path);
	while (length > 1 && folder[length - 1] == '/')
		folder[--length] = '\0';
	r = output_make_folders(folder, err);
	if (!r)
		r = make_folder(folder, 0700, err);
	free(folder);
	return r;
}
