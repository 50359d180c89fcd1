/*
 * --launcher CMD: any command that runs a program on nodes: once for each host if it contains
 * "{host}", else once for all (flux exec, pdsh, clush).
 */
#include "host/core/cleanup.h"
#include "host/fleet/engine/ssh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MARK "{host}"

static bool launcher_is_meant(const struct fleet_who *who)
{
	return who->launcher;
}

static int hosts_refuse(struct err *err)
{
	err_set(err, -EINVAL, "the launcher has '" HOST_MARK "' in it, and no hosts are given");
	err_fix(err, "--hosts n1,n2 or --hosts 'n[1-4]'");
	return err_exit(err, EXIT_USAGE);
}

static int launcher_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	ret->title = strdup(who->match ? who->match : "ranks");
	if (!ret->title)
		return err_set(err, -ENOMEM, "launcher: no memory");
	ret->is_open = ret->is_one_start = !strstr(who->launcher, HOST_MARK);
	if (who->hosts)
		return plan_add_hosts(ret, who->hosts, err);
	return ret->is_open ? 0 : hosts_refuse(err);
}

static size_t count_marks(const char *command)
{
	size_t count = 0;

	while ((command = strstr(command, HOST_MARK))) {
		command += strlen(HOST_MARK);
		count++;
	}
	return count;
}

/* The command with the host in place of each mark; names of hosts have no characters special to
 * shells. */
static char *host_insert(const char *command, const char *host)
{
	char *text = malloc(strlen(command) + count_marks(command) * strlen(host) + 1);
	char *at = text;
	const char *mark;

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

	words_add(ret, "/bin/sh");
	words_add(ret, "-c");
	if (line && limpet)
		words_add(ret, "exec %s %s fleet-node %s", line, limpet, command->request);
	else
		ret->has_failed = true;
}

const struct engine engine_launcher = {
	.name = "--launcher",
	.is_meant = launcher_is_meant,
	.plan = launcher_plan,
	.command = launcher_command,
};
