/*
 * limpet fleet: all ranks of a running job.  The table of its verbs.
 */
#include "host/cli/command.h"

extern const struct command command_fleet_ps, command_fleet_dump;

static const struct command *const fleet_verbs[] = {
	&command_fleet_ps,
	&command_fleet_dump,
	NULL,
};

const struct command command_fleet = {
	.name = "fleet",
	.summary = "look at all ranks of a running job, on all of its nodes",
	.verbs = fleet_verbs,
	.notes =
		"Ranks are found by what launchers tell them; limpet starts itself on each node by what the\n"
		"site has (ssh, or any command), and leaves nothing there.\n",
};
