/*
 * Where an export goes: into a file, a set of files, or a stream.
 */
#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>

#include "host/core/cleanup.h"
#include "host/export/exporter.h"
#include "host/export/output_file.h"

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
	r = exporter->write ? exporter->write(model, out) : -EINVAL;
	if (!r)
		fflush(out);
	return r ? r : export_state(out);
}

static int write_in_place(struct model *model, const struct exporter *exporter, const char *path,
			  struct err *err)
{
	CLEANUP(fclose) FILE *out = fopen(path, "we");
	int r = out ? write_to(model, exporter, out) : -errno;

	return r ? output_explain(r, path, err) : 0;
}

static int write_whole(struct model *model, const struct exporter *exporter, const char *path,
		       struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	int r = output_open(&file, path, err);

	if (r)
		return r;
	if (exporter->write_named)
		r = exporter->write_named(model, file.temporary, err);
	else if ((r = write_to(model, exporter, file.out)))
		output_explain(r, path, err);
	return r ? r : output_commit(&file, err);
}

static int refuse(const struct exporter *exporter, const char *path, struct err *err)
{
	err_set(err, -EINVAL, "%s is a file with places in it: it cannot be written to '%s'",
		exporter->name, path);
	err_fix(err, "-o FILE%s", exporter->extensions[0]);
	return err_exit(err, EXIT_USAGE);
}

int export_file(struct model *model, const struct exporter *exporter, const char *path,
		struct err *err)
{
	bool is_stream = strcmp(path, "-") == 0;
	struct stat present;
	int r;

	if (!is_stream && exporter->write_set)
		return exporter->write_set(model, path, err);
	if (!exporter->write &&
	    (is_stream || (stat(path, &present) == 0 && !S_ISREG(present.st_mode))))
		return refuse(exporter, path, err);
	if (is_stream) {
		r = write_to(model, exporter, stdout);
		return r ? output_explain(r, "stdout", err) : 0;
	}
	if (stat(path, &present) == 0 && !S_ISREG(present.st_mode))
		return write_in_place(model, exporter, path, err);
	return write_whole(model, exporter, path, err);
}
