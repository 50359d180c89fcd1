/*
 * A file appears when it is complete.
 */
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/export/exporter.h"

int export_state(FILE *out)
{
	if (!ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

/* One place for "disk full" and "no memory" alike. */
static int write_to(struct model *model, const struct exporter *exporter, FILE *out)
{
	int r;

	/* Nobody else writes to it: a lock for each number would take half of the time. */
	__fsetlocking(out, FSETLOCKING_BYCALLER);
	errno = 0;
	r = exporter->write(model, out);
	if (!r)
		fflush(out);
	return r ? r : export_state(out);
}

static int explain(int r, const char *path, struct err *err)
{
	err_set(err, r, "write '%s': %s", path, strerror(-r));
	if (r == -ENOSPC)
		err_fix(err, "choose another place with -o, or free some space");
	return r;
}

static int write_in_place(struct model *model, const struct exporter *exporter, const char *path,
			  struct err *err)
{
	CLEANUP(fclose) FILE *out = fopen(path, "we");
	int r = out ? write_to(model, exporter, out) : -errno;

	return r ? explain(r, path, err) : 0;
}

/* Of files that are not made by mkstemp(). */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* In the same folder, so that a rename will do: "folder/.name.XXXXXX". */
static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	char *name;

	return asprintf(&name, "%.*s.%s.XXXXXX", folder, path, path + folder) < 0 ? NULL : name;
}

static int write_whole(struct model *model, const struct exporter *exporter, int fd)
{
	FILE *out = fdopen(fd, "w");
	int r;

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	r = write_to(model, exporter, out);
	if (!r && fchmod(fd, usual_mode()) < 0)
		r = -errno;
	if (fclose(out) && !r)
		r = -errno;
	return r;
}

static int write_and_rename(struct model *model, const struct exporter *exporter, const char *path,
			    struct err *err)
{
	CLEANUP(free) char *temporary = temporary_name(path);
	int fd = temporary ? mkstemp(temporary) : -1;
	int r;

	if (fd < 0)
		return explain(temporary ? -errno : -ENOMEM, path, err);
	r = write_whole(model, exporter, fd);
	if (!r && rename(temporary, path) < 0)
		r = -errno;
	if (!r)
		return 0;
	unlink(temporary);
	return explain(r, path, err);
}

int export_file(struct model *model, const struct exporter *exporter, const char *path,
		struct err *err)
{
	struct stat present;
	int r;

	if (strcmp(path, "-") == 0) {
		r = write_to(model, exporter, stdout);
		return r ? explain(r, "stdout", err) : 0;
	}
	if (stat(path, &present) == 0 && !S_ISREG(present.st_mode))
		return write_in_place(model, exporter, path, err);
	return write_and_rename(model, exporter, path, err);
}
