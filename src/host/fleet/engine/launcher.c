/*
 * Engines for which the user names the hosts.
 *
 * --launcher CMD: any command that runs a program on nodes: once for each host if it contains
 * "{host}", else once for all (flux exec, pdsh, clush).  --hosts: one ssh for each host, never
 * interactive: without a key or ticket it fails with that reason.  --local: this machine.
 */
#include "host/core/cleanup.h"
#include "host/fleet/engine/engine.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#define HOST_MARK "{host}"

static int hosts_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	ret->title = strdup(who->match ? who->match : "ranks");
	if (!ret->title)
		return err_set(err, -ENOMEM, "hosts: no memory");
	ret->is_open = ret->is_one_start = who->launcher && !strstr(who->launcher, HOST_MARK);
	if (who->hosts)
		return plan_add_hosts(ret, who->hosts, err);
	if (ret->is_open)
		return 0;
	return err_usage(err, "--hosts n1,n2 or --hosts 'n[1-4]'",
			 "the launcher has '" HOST_MARK "' in it, and no hosts are given");
}

/* The command with the host in place of each mark; names of hosts have no characters special to
 * shells. */
static char *host_insert(const char *command, const char *host)
{
	size_t size = strlen(command) + 1;
	const char *mark;
	char *text, *at;

	for (mark = command; (mark = strstr(mark, HOST_MARK)); mark += strlen(HOST_MARK))
		size += strlen(host);
	text = at = malloc(size);
	while (text && (mark = strstr(command, HOST_MARK))) {
		at = mempcpy(at, command, (size_t)(mark - command));
		at = mempcpy(at, host, strlen(host));
		command = mark + strlen(HOST_MARK);
	}
	if (text)
		memcpy(at, command, strlen(command) + 1);
	return text;
}

static void launcher_command(struct words *ret, const struct fleet_plan *plan,
			     const struct node_command *command)
{
	CLEANUP(free) char *limpet = word_quote(command->limpet);
	CLEANUP(free)
	char *line =
		host_insert(plan->launcher, plan->is_open ? "" : plan->nodes[command->node].name);

	words_add_line(ret, "/bin/sh -c");
	if (line && limpet)
		words_add(ret, "exec %s %s fleet-node %s", line, limpet, command->request);
	else
		ret->has_failed = true;
}

const struct engine engine_launcher = {
	.name = "--launcher",
	.plan = hosts_plan,
	.command = launcher_command,
};

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
	.plan = hosts_plan,
	.command = ssh_command,
};

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
