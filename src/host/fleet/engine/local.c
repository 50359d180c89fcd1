/*
 * --local: ranks on this machine.
 */
#include "host/fleet/engine/engine.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

static int local_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	struct planned_node *node;
	struct utsname system;

	(void)who;
	uname(&system);
	ret->title = strdup("ranks on this machine");
	node = plan_add_node(ret, system.nodename);
	if (!node || !ret->title)
		return err_set(err, -ENOMEM, "nodes: no memory");
	node->is_local = true;
	return 0;
}

static void local_command(struct words *ret, const struct fleet_plan *plan,
			  const struct node_command *command)
{
	(void)plan;
	engine_command_local(ret, command);
}

const struct engine engine_local = {
	.name = "--local",
	.plan = local_plan,
	.command = local_command,
};
