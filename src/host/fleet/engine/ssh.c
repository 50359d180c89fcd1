/*
 * --hosts: one ssh for each host, never interactive: without a key or ticket it fails with that
 * reason.
 */
#include "host/fleet/engine/engine.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <string.h>

static int ssh_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	ret->title = strdup(who->match ? who->match : "ranks");
	if (!ret->title)
		return err_set(err, -ENOMEM, "hosts: no memory");
	return plan_add_hosts(ret, who->hosts, err);
}

void ssh_command(struct words *ret, const struct fleet_plan *plan,
		 const struct node_command *command)
{
	CLEANUP(free) char *script = node_script(command);
	CLEANUP(free) char *quoted = script ? word_quote(script) : NULL;

	words_add_line(ret, "ssh -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=5 "
			    "-oClearAllForwardings=yes -T --");
	words_add_text(ret, plan->nodes[command->node].name);
	/* The user's shell may be any; this one is known. */
	words_add(ret, "exec /bin/sh -c %s", quoted ? quoted : "");
	ret->has_failed |= !quoted;
}

const struct engine engine_ssh = {
	.name = "--hosts",
	.copy = COPY_INPUT,
	.plan = ssh_plan,
	.command = ssh_command,
};
