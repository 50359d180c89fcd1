/*
 * Every format; finding one, and writing it: into a file, a set of files, or a stream.
 */
#include "host/export/exporter.h"

#include "host/core/cleanup.h"
#include "host/model/samples/samples.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>

/* clang-format off */
#define EXPORTER(symbol, name, holds, help, ...)          \
	extern const struct exporter_format format_##symbol; \
	static const char *const extensions_##symbol[] = { __VA_ARGS__, NULL };
#include "host/export/exporters.def"

#define CALLS   HOLDS_CALLS
#define SAMPLES HOLDS_SAMPLES
#define WINDOWS HOLDS_WINDOWS

const struct exporter exporters[] = {
#define EXPORTER(symbol, name, holds, help, ...) { name, help, extensions_##symbol, holds, &format_##symbol },
#include "host/export/exporters.def"
	{ 0 },
};
/* clang-format on */

const struct exporter *exporter_find(const char *name)
{
	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		if (strcmp(exporter->name, name) == 0)
			return exporter;
	return NULL;
}

unsigned exporter_content(const struct model *model)
{
	return (model->calls ? HOLDS_CALLS : 0u) | (model->samples->count ? HOLDS_SAMPLES : 0u) |
	       (model->windows.count ? HOLDS_WINDOWS : 0u);
}

const char *exporter_content_name(unsigned holds)
{
	return holds & HOLDS_CALLS     ? "calls"
	       : holds & HOLDS_SAMPLES ? "samples"
				       : "counters over time";
}

static const struct exporter *next_that_holds(const struct exporter *exporter, unsigned holds)
{
	while (exporter->name && !(exporter->holds & holds))
		exporter++;
	return exporter;
}

void exporter_names(unsigned holds, char ret[EXPORTER_NAMES_MAX])
{
	const struct exporter *exporter = next_that_holds(exporters, holds);
	size_t length = 0;

	ret[0] = '\0';
	while (exporter->name && length < EXPORTER_NAMES_MAX) {
		const struct exporter *next = next_that_holds(exporter + 1, holds);
		const char *before = !length ? "" : next->name ? ", " : " or ";

		length += (size_t)snprintf(ret + length, EXPORTER_NAMES_MAX - length, "%s%s",
					   before, exporter->name);
		exporter = next;
	}
}

static bool ends_with(const char *path, const char *extension)
{
	size_t length = strlen(path), end = strlen(extension);

	return length > end && strcmp(path + length - end, extension) == 0;
}

/* The longest ending counts: a.chrome.json is not json. */
const struct exporter *exporter_for_path(const char *path)
{
	const struct exporter *best = NULL;
	size_t best_length = 0;

	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		for (const char *const *end = exporter->extensions; *end; end++)
			if (ends_with(path, *end) && strlen(*end) > best_length) {
				best = exporter;
				best_length = strlen(*end);
			}
	return best;
}

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

/* An existing file must be limpet's, and no recording. */
static int check_location(const struct output_file *file, const struct exporter *exporter,
			  const char *path, struct err *err)
{
	if (!output_location_begins_with(&file->location, RECORDING_MAGIC, strlen(RECORDING_MAGIC)))
		return output_check_stranger(&file->location, path, exporter->format->looks_like,
					     err);
	err_set(err, -EEXIST, "write '%s': that is a recording", path);
	err_why(err, "an export would overwrite it");
	return err_fix(err, "choose another name with -o FILE, or remove it");
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

int export_file(struct model *model, const struct exporter *exporter, const char *path,
		struct err *err)
{
	bool is_stream = strcmp(path, "-") == 0;
	int r;

	if (!is_stream && exporter->format->write_set)
		return exporter->format->write_set(model, path, err);
	if (!exporter->format->write) {
		r = is_stream ? -ESPIPE : write_named(model, exporter, path, err);
		if (r != -ESPIPE)
			return r;
		err_usage(err, NULL,
			  "%s needs a file that it can seek in: it cannot be written to '%s'",
			  exporter->name, path);
		return err_fix(err, "-o FILE%s", exporter->extensions[0]);
	}
	if (!is_stream)
		return write_file(model, exporter, path, err);
	r = write_to(model, exporter, stdout);
	return r ? output_explain(r, "stdout", err) : 0;
}
