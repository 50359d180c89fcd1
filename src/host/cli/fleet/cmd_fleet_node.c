/*
 * limpet fleet-node REQUEST: the part of a fleet that runs on a node.  Started by limpet itself.
 */
#include "host/cli/command.h"
#include "host/cli/version.h"
#include "host/fleet/node/node.h"

static const struct option_desc node_options[] = { { 0 } };

static enum exit_code fleet_node_run(char **argv)
{
	return node_run(argv[0], LIMPET_VERSION);
}

const struct command command_fleet_node = {
	.name = "fleet-node",
	.summary = "the node's part of limpet fleet; limpet starts it by itself",
	.usage = "REQUEST",
	.options = node_options,
	.run = fleet_node_run,
};
