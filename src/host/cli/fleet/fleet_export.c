/*
 * limpet fleet export: a recorded fleet as files that other programs read; for limpet ui, as one
 * recording.
 */
#include "host/fleet/export/fleet_export.h"
#include "host/cli/common/progress.h"
#include "host/cli/common/selection.h"
#include "host/cli/fleet/fleet.h"
#include "host/core/cleanup.h"
#include "host/core/text/nearest.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/fleet/folder/fleet_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct export_values {
	const char *format, *output, *view;
	bool is_json;
};

#define FIELD(member) offsetof(struct export_values, member)

static const struct option_desc export_options[] = {
	{ 'f', "format", "FORMAT", "write this format, see below (default: flamegraph)",
	  FIELD(format), OPTION_TEXT },
	{ 'o', "output", "OUT", "write to OUT, a file or a folder (default: beside DIR)",
	  FIELD(output), OPTION_TEXT },
	{ 0, "view", "VIEW",
	  "use only these samples: on-cpu, off-cpu, runnable or wall (default: on-cpu)",
	  FIELD(view), OPTION_TEXT },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

static void format_offer(const struct fleet_format *format, void *context)
{
	nearest_offer(context, format->name);
}

static const struct fleet_format *format_choose(const char *name, struct err *err)
{
	const struct fleet_format *format = fleet_format_find(name);
	struct nearest nearest = { .wanted = name };

	if (format)
		return format;
	fleet_formats_each(format_offer, &nearest);
	err_usage(err, "limpet fleet export --help lists all", "unknown format '%s'", name);
	if (nearest.best)
		err_fix(err, "-f %s", nearest.best);
	return NULL;
}

/* "run1/" becomes "run1.html", or the folder "run1-csv". */
static char *output_beside(const char *folder, const struct fleet_format *format)
{
	size_t length = strlen(folder);
	char *name;

	while (length > 1 && folder[length - 1] == '/')
		length--;
	return asprintf(&name, "%.*s%s%s", (int)length, folder, format->is_folder ? "-" : "",
			format->is_folder ? format->name : format->extension) < 0
		       ? NULL
		       : name;
}

static void print_exported(const struct fleet_export *done, const struct fleet_format *format)
{
	print(stdout, "%s: %lu rank%s, %lu sample%s, %lu call%s (%s)\n", done->output, done->ranks,
	      plural(done->ranks), done->samples, plural(done->samples), done->calls,
	      plural(done->calls), format->name);
}

static void write_exported(const struct fleet_export *done, const struct fleet_format *format)
{
	struct json json = json_event(stdout, "export");

	json_text(&json, "format", format->name);
	json_text(&json, "output", done->output);
	json_number(&json, "ranks", done->ranks);
	json_number(&json, "samples", done->samples);
	json_number(&json, "calls", done->calls);
	json_number(&json, "unread", done->unread);
	json_number(&json, "cut", done->cut);
	json_number(&json, "absent", done->absent);
	json_object_end(&json);
}

static int export_run(const struct command_line *line, struct err *err)
{
	const struct export_values *values = line->values;
	const char *folder = line->operands[0];
	const struct fleet_format *format = format_choose(values->format, err);
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(progress_end) struct progress progress = { 0 };
	CLEANUP(free) char *beside = NULL;
	struct fleet_export export = { .folder = folder,
				       .fleet = &fleet,
				       .version = LIMPET_VERSION };
	uint64_t lacks;
	bool is_plain;
	int r = format ? view_find(values->view, /* allows_calls */ false, &export.view, err)
		       : err->code;

	if (!r)
		r = fleet_folder_read(folder, &fleet, &is_plain, err);
	if (r)
		return r;
	beside = output_beside(folder, format);
	export.output = values->output ? values->output : beside;
	if (!export.output)
		return err_set(err, -ENOMEM, "export '%s': no memory", folder);
	progress_begin(&progress, "exporting", folder);
	r = fleet_export_write(&export, format, err);
	progress_end(&progress);
	if (r)
		return r;
	(values->is_json ? write_exported : print_exported)(&export, format);
	/* Recordings that could not be read are missing in the file, as are ranks without one. */
	lacks = fleet_export_lacks(&export);
	if (!lacks)
		return 0;
	err_set(err, -EIO, "%lu of %zu ranks %s missing or not complete in it", lacks,
		fleet.rank_count, is_are(lacks));
	err_why(err, "%s", export.trouble);
	return err_exit(err, EXIT_PARTLY);
}

/* Not a rank's: names of ranks have no dot at the beginning. */
#define MERGED_NAME ".all-ranks.limpet"

bool is_folder(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISDIR(file.st_mode);
}

int fleet_merge_folder(const char *folder, char **ret, struct err *err)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(progress_end) struct progress progress = { 0 };
	CLEANUP(free) char *path = fleet_folder_path(folder, MERGED_NAME);
	struct fleet_export merge = { .folder = folder,
				      .fleet = &fleet,
				      .version = LIMPET_VERSION };
	uint64_t lacks;
	bool is_plain;
	int r = path ? fleet_folder_read(folder, &fleet, &is_plain, err)
		     : err_set(err, -ENOMEM, "'%s': no memory", folder);

	if (r)
		return r;
	progress_begin(&progress, "merging", folder);
	r = fleet_export_merge(&merge, -1, path, err);
	if (r == -ENODATA)
		return err_exit(err, EXIT_NOTHING_CAPTURED);
	if (r)
		return r;
	lacks = fleet_export_lacks(&merge);
	if (lacks)
		print(stderr, "warning: %lu of %zu ranks %s missing or not complete: %s\n", lacks,
		      fleet.rank_count, is_are(lacks), merge.trouble);
	*ret = TAKE(path);
	return 0;
}

static void format_print(const struct fleet_format *format, void *context)
{
	print(context, "  %-12s  %s%s\n", format->name, format->help,
	      format->is_folder ? " (a file for each rank)" : "");
}

static void formats_print(FILE *out)
{
	print(out, "formats:\n");
	fleet_formats_each(format_print, out);
}

const struct command command_fleet_export = {
	.name = "fleet export",
	.summary = "write a recorded fleet as files for other programs",
	.usage = "DIR [-f FORMAT] [-o OUT] [--view VIEW] [--json]",
	.options = export_options,
	.values_size = sizeof(struct export_values),
	.defaults = &(const struct export_values){ .format = "flamegraph" },
	.operands = &fleet_folder_operand,
	.run = export_run,
	.print_details = formats_print,
	.notes =
		"Times are the time of day on each rank's node.  Formats of samples hold all ranks, by name.\n"
		"Exit code 8: some ranks are missing or not complete; what is there is written.\n"
		"\n"
		"examples:\n"
		"  limpet fleet export run1                      the flame graph, run1.html\n"
		"  limpet fleet export run1 -f pprof             labels rank, node and job\n"
		"  limpet fleet export run1 -f pftrace           run1.tar, for ui.perfetto.dev\n"
		"  limpet fleet export run1 -f kineto -o traces  for Holistic Trace Analysis\n"
		"  limpet fleet export run1 -f limpet && limpet ui run1.limpet\n",
};
