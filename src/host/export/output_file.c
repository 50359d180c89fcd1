/*
 * Temporary names, and folders.
 */
#include "host/export/output_file.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/cleanup.h"

int output_explain(int code, const char *path, struct err *err)
{
	err_set(err, code, "write '%s': %s", path, strerror(-code));
	if (code == -ENOSPC)
		err_fix(err, "choose another place with -o, or free some space");
	return code;
}

/* Of files that are not made by mkstemp(). */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* In the same folder, so that a rename will do. */
static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	char *name;

	return asprintf(&name, "%.*s.%s.XXXXXX", folder, path, path + folder) < 0 ? NULL : name;
}

static int open_temporary(struct output_file *file)
{
	int fd = mkstemp(file->temporary), r;

	if (fd < 0)
		return -errno;
	if (fchmod(fd, usual_mode()) == 0)
		file->out = fdopen(fd, "w");
	if (file->out) {
		/* A lock for each number would take half of the time. */
		__fsetlocking(file->out, FSETLOCKING_BYCALLER);
		return 0;
	}
	r = errno ? -errno : -ENOMEM;
	close(fd);
	unlink(file->temporary);
	return r;
}

int output_open(struct output_file *ret, const char *path, struct err *err)
{
	int r = -ENOMEM;

	*ret = (struct output_file){ .path = strdup(path), .temporary = temporary_name(path) };
	if (ret->path && ret->temporary)
		r = open_temporary(ret);
	if (!r)
		return 0;
	free(ret->path);
	free(ret->temporary);
	*ret = (struct output_file){ 0 };
	return output_explain(r, path, err);
}

int output_commit(struct output_file *file, struct err *err)
{
	int r = 0;

	errno = 0;
	if (fflush(file->out) || ferror(file->out))
		r = errno ? -errno : -EIO;
	if (fclose(TAKE(file->out)) && !r)
		r = errno ? -errno : -EIO;
	if (!r && rename(file->temporary, file->path) < 0)
		r = -errno;
	if (r) {
		output_explain(r, file->path, err);
		output_discard(file);
		return r;
	}
	free(TAKE(file->temporary));
	return 0;
}

void output_discard(struct output_file *file)
{
	if (file->out)
		fclose(file->out);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	*file = (struct output_file){ 0 };
}

static int make_folder(const char *path, struct err *err)
{
	struct stat present;

	if (mkdir(path, 0777) < 0 && errno != EEXIST)
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
		r = make_folder(folder, err);
		*slash = '/';
	}
	free(folder);
	return r;
}
