/*
 * Writes an export: into a file, a set of files, or a stream.
 */
#include <errno.h>
#include <stdio_ext.h>
#include <string.h>

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

	/* Only this thread writes to it: a lock for each number would take half of the time. */
	__fsetlocking(out, FSETLOCKING_BYCALLER);
	errno = 0;
	r = exporter->format->write ? exporter->format->write(model, out) : -EINVAL;
	if (!r)
		fflush(out);
	return r ? r : export_state(out);
}

static int refuse_recording(const char *path, struct err *err)
{
	err_set(err, -EEXIST, "write '%s': that is a recording", path);
	err_why(err, "an export would overwrite it");
	return err_fix(err, "choose another name with -o FILE, or remove it");
}

static bool is_recording(const struct output_file *file)
{
	return output_location_begins_with(&file->location, RECORDING_MAGIC,
					   strlen(RECORDING_MAGIC));
}

/* An existing file must be limpet's, and no recording. */
static int check_location(const struct output_file *file, const struct exporter *exporter,
			  const char *path, struct err *err)
{
	if (is_recording(file))
		return refuse_recording(path, err);
	return output_check_stranger(&file->location, path, exporter->format->looks_like, err);
}

static int write_file(struct model *model, const struct exporter *exporter, const char *path,
		      struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	int r = output_open(&file, path, err);

	if (!r)
		r = check_location(&file, exporter, path, err);
	if (r)
		return r;
	r = write_to(model, exporter, file.out);
	return r ? output_explain(r, path, err) : output_commit(&file, err);
}

static int write_named(struct model *model, const struct exporter *exporter, const char *path,
		       struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	int r = output_open_named(&file, path, err);

	if (!r)
		r = check_location(&file, exporter, path, err);
	if (!r)
		r = exporter->format->write_named(model, &file, err);
	return r ? r : output_commit(&file, err);
}

static int file_refuse(const struct exporter *exporter, const char *path, struct err *err)
{
	err_set(err, -EINVAL, "%s needs a file that it can seek in: it cannot be written to '%s'",
		exporter->name, path);
	err_fix(err, "-o FILE%s", exporter->extensions[0]);
	return err_exit(err, EXIT_USAGE);
}

int export_file(struct model *model, const struct exporter *exporter, const char *path,
		struct err *err)
{
	bool is_stream = strcmp(path, "-") == 0;
	int r;

	if (!is_stream && exporter->format->write_set)
		return exporter->format->write_set(model, path, err);
	if (!exporter->format->write) {
		r = is_stream ? -ESPIPE : write_named(model, exporter, path, err);
		return r == -ESPIPE ? file_refuse(exporter, path, err) : r;
	}
	if (!is_stream)
		return write_file(model, exporter, path, err);
	r = write_to(model, exporter, stdout);
	return r ? output_explain(r, "stdout", err) : 0;
}
