/*
 * ssh, also for engines that only determine the hosts themselves.
 */
#pragma once

#include "host/fleet/engine/engine.h"

void ssh_command(struct words *ret, const struct fleet_plan *plan,
		 const struct node_command *command);

/* The hosts of a list as nodes. */
int plan_add_hosts(struct fleet_plan *ret, const char *list, struct err *err) MUST_CHECK;
