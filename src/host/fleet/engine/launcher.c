/*
 * --launcher CMD: any command that runs a program on nodes: once for each host if it contains
 * "{host}", else once for all (flux exec, pdsh, clush).
 */
#include "host/fleet/engine/engine.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <string.h>

#define HOST_MARK "{host}"

static int launcher_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	ret->title = strdup(who->match ? who->match : "ranks");
	if (!ret->title)
		return err_set(err, -ENOMEM, "launcher: no memory");
	ret->is_open = ret->is_one_start = !strstr(who->launcher, HOST_MARK);
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
	.plan = launcher_plan,
	.command = launcher_command,
};
