/*
 * limpet fleet export: a recorded fleet as files that other programs read.
 */
#include "host/fleet/export/fleet_export.h"
#include "host/cli/command.h"
#include "host/cli/fleet/fleet.h"
#include "host/cli/progress.h"
#include "host/cli/report.h"
#include "host/cli/version.h"
#include "host/cli/view.h"
#include "host/core/cleanup.h"
#include "host/core/text/json.h"
#include "host/core/text/nearest.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/fleet/folder/fleet_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct export_values {
	const char *format, *output, *view;
	bool is_json;
};

#define FIELD(member) offsetof(struct export_values, member)

static const struct option_desc export_options[] = {
	{ 'f', "format", "FORMAT", "write this format, see below (default: flamegraph)",
	  OPTION_TEXT, FIELD(format) },
	{ 'o', "output", "OUT", "write to OUT, a file or a folder (default: beside DIR)",
	  OPTION_TEXT, FIELD(output) },
	{ 0, "view", "VIEW",
	  "use only these samples: on-cpu, off-cpu, runnable or wall (default: on-cpu)",
	  OPTION_TEXT, FIELD(view) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
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
	err_set(err, -EINVAL, "unknown format '%s'", name);
	if (nearest.best)
		err_fix(err, "-f %s", nearest.best);
	else
		err_fix(err, "limpet fleet export --help lists all");
	err_exit(err, EXIT_USAGE);
	return NULL;
}

/* "run1/" becomes "run1.html", or the folder "run1-csv". */
static char *output_beside(const char *folder, const struct fleet_format *format)
{
	size_t length = strlen(folder);
	char *name = NULL;

	while (length > 1 && folder[length - 1] == '/')
		length--;
	if (asprintf(&name, "%.*s%s%s", (int)length, folder, format->is_folder ? "-" : "",
		     format->is_folder ? format->name : format->extension) < 0)
		return NULL;
	return name;
}

static void export_tell(const struct fleet_export *done, const struct fleet_format *format,
			bool is_json)
{
	struct json json = { .out = stdout };

	if (!is_json) {
		print(stdout,
		      "%s: %" PRIu64 " rank%s, %" PRIu64 " sample%s, %" PRIu64 " call%s (%s)\n",
		      done->output, done->ranks, plural(done->ranks), done->samples,
		      plural(done->samples), done->calls, plural(done->calls), format->name);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "export");
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

/* Recordings that could not be read are missing in the file, as are ranks without one. */
static int lacks_judge(const struct fleet_export *done, struct err *err)
{
	uint64_t lacks = fleet_export_lacks(done);

	if (!lacks)
		return 0;
	err_set(err, -EIO, "%" PRIu64 " of %zu ranks %s missing or not complete in it", lacks,
		done->fleet->rank_count, is_are(lacks));
	err_why(err, "%s", done->trouble);
	return err_exit(err, EXIT_PARTLY);
}

static int export_write(const char *folder, const struct export_values *values, struct err *err)
{
	const struct fleet_format *format =
		format_choose(values->format ? values->format : "flamegraph", err);
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(progress_end) struct progress progress = { 0 };
	CLEANUP(free) char *beside = NULL;
	struct fleet_export export = { .folder = folder,
				       .fleet = &fleet,
				       .version = LIMPET_VERSION };
	bool is_plain;
	int r = format ? view_find(values->view, &export.view, err) : err->code;

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
	export_tell(&export, format, values->is_json);
	return lacks_judge(&export, err);
}

static enum exit_code export_run(char **argv)
{
	struct export_values values = { 0 };
	struct err err = { 0 };
	int operands = options_parse(export_options, argv, &values, &err);

	if (!fleet_check_folder(operands, argv, &err))
		(void)!export_write(argv[0], &values, &err);
	return report_end("fleet export", values.is_json, &err);
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
