/*
 * limpet fleet: all ranks of a running job.  The table of its verbs.
 */
#include "host/cli/command.h"

extern const struct command command_fleet_ps, command_fleet_dump, command_fleet_record,
	command_fleet_report, command_fleet_export, command_fleet_top;

static const struct command *const fleet_verbs[] = {
	&command_fleet_ps,
	&command_fleet_dump,
	&command_fleet_top,
	&command_fleet_record,
	&command_fleet_report,
	&command_fleet_export,
	NULL,
};

const struct command command_fleet = {
	.name = "fleet",
	.summary = "look at all ranks of a running job, on all of its nodes",
	.verbs = fleet_verbs,
	.notes =
		"Ranks are found by the variables that launchers set.  limpet runs itself on each node by\n"
		"ssh, or by any command (--launcher), and leaves nothing there.\n",
};
