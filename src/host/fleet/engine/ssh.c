/*
 * --hosts: one ssh for each host, never interactive: without a key or ticket it fails with that
 * reason.
 */
#include "host/fleet/engine/engine.h"

#include "host/core/cleanup.h"
#include "host/fleet/engine/ssh.h"
#include "host/fleet/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool ssh_is_meant(const struct fleet_who *who)
{
	return who->hosts && !who->launcher;
}

int plan_add_hosts(struct fleet_plan *ret, const char *list, struct err *err)
{
	CLEANUP(hosts_done) struct hosts hosts = { 0 };
	int r = hosts_parse(&hosts, list, err);

	for (size_t i = 0; !r && i < hosts.count; i++)
		if (!plan_add_node(ret, hosts.names[i]))
			r = err_set(err, -ENOMEM, "hosts: no memory");
	return r;
}

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

	words_add(ret, "ssh");
	words_add(ret, "-oBatchMode=yes");
	words_add(ret, "-oConnectTimeout=10");
	words_add(ret, "-oServerAliveInterval=5");
	words_add(ret, "-oClearAllForwardings=yes");
	words_add(ret, "-T");
	words_add(ret, "--");
	words_add(ret, "%s", plan->nodes[command->node].name);
	/* The user's shell may be any; this one is known. */
	if (quoted)
		words_add(ret, "exec /bin/sh -c %s", quoted);
	else
		ret->has_failed = true;
}

const struct engine engine_ssh = {
	.name = "--hosts",
	.copy = COPY_INPUT,
	.is_meant = ssh_is_meant,
	.plan = ssh_plan,
	.command = ssh_command,
};
