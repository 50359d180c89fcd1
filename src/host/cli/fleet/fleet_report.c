/*
 * limpet fleet report: the totals of a recorded fleet.
 */
#include "host/cli/command.h"
#include "host/cli/fleet/fleet.h"
#include "host/cli/fleet/totals_view.h"
#include "host/cli/report.h"
#include "host/core/cleanup.h"
#include "host/fleet/folder/fleet_folder.h"

#include <errno.h>

struct report_values {
	bool is_json;
	uint64_t rows;
};

#define FIELD(member) offsetof(struct report_values, member)

static const struct option_desc report_options[] = {
	{ 'n', "rows", "N", "show N rows of each table (default: 20)", OPTION_NUMBER, FIELD(rows) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

static int report_show(const char *folder, const struct report_values *values, struct err *err)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	bool is_plain = false;
	uint64_t troubled;
	int r = fleet_folder_read(folder, &fleet, &is_plain, err);

	if (!r)
		r = totals_show(&fleet, folder, values->rows, values->is_json, &troubled, err);
	if (r)
		return r;
	if (!values->is_json)
		fleet_tell_failures(&fleet);
	if (!is_plain)
		r = fleet_judge(&fleet, err);
	return r ? r : totals_judge(&fleet, troubled, err);
}

int fleet_check_folder(int operands, char **argv, struct err *err)
{
	if (operands < 0)
		return operands;
	if (operands > 1)
		return report_surplus(argv[1], err);
	if (operands == 1)
		return 0;
	err_set(err, -EINVAL, "no folder of a recorded fleet is given");
	err_fix(err, "the DIR of: limpet fleet record -o DIR");
	return err_exit(err, EXIT_USAGE);
}

static enum exit_code report_run(char **argv)
{
	struct report_values values = { .rows = TOTALS_ROWS };
	struct err err = { 0 };
	int operands = options_parse(report_options, argv, &values, &err);

	if (!fleet_check_folder(operands, argv, &err))
		(void)!report_show(argv[0], &values, &err);
	return report_end("fleet report", values.is_json, &err);
}

const struct command command_fleet_report = {
	.name = "fleet report",
	.summary = "summarize recordings of ranks: functions by mean, least and most",
	.usage = "DIR [--rows N] [--json]",
	.options = report_options,
	.run = report_run,
	.notes =
		"DIR is what limpet fleet record made, or any folder of recordings, one for each rank.\n"
		"Exit code 8: some ranks are missing or not complete; what is there is shown.\n"
		"\n"
		"examples:\n"
		"  limpet fleet report run1\n"
		"  limpet fleet report run1 --json -n 1000\n",
};
