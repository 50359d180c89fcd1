/*
 * Reads the command lines of hydra's children:
 *
 *   /usr/bin/ssh -x n1 "/usr/bin/hydra_pmi_proxy" --control-port login:33715 ...
 *   /usr/bin/hydra_pmi_proxy --control-port login:33715 ...
 */
#include "host/fleet/engine/mpirun.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/process/forks/descendants.h"
#include "host/process/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_MAX 4096u

/* With or without quotes around it. */
static bool is_proxy(const char *word)
{
	const char *name = path_base_name(word);

	return !strncmp(name, "hydra_pmi_proxy", 15) && (!name[15] || !strcmp(name + 15, "\""));
}

int hydra_take(struct hydra *self, const char *command, size_t size)
{
	const char *end = command + size, *before = NULL, *host = NULL;
	bool has_proxy = false, is_local = false;

	for (const char *at = command; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
		if (!memchr(at, '\0', (size_t)(end - at)))
			break;
		if (is_proxy(at) && !has_proxy) {
			has_proxy = true;
			is_local = !before;
			host = before;
		} else if (has_proxy && !strcmp(before, "--control-port") &&
			   host_name_is_sound(at)) {
			snprintf(self->key, sizeof(self->key), "%s", at);
		}
		before = at;
	}
	self->has_local |= is_local;
	return host && host_name_is_sound(host) ? hosts_add(&self->hosts, host) : 0;
}

int hydra_read(struct hydra *ret, pid_t pid, struct err *err)
{
	CLEANUP(free) struct lineage *all = NULL;
	struct err ignored = { 0 };
	size_t count = 0;
	int r = lineage_read_all(&all, &count, err);

	*ret = (struct hydra){ 0 };
	if (r)
		return r;
	for (size_t i = 0; !r && i < count; i++) {
		char command[COMMAND_MAX];
		ssize_t size = all[i].parent != pid
				       ? 0
				       : proc_read_small(all[i].pid, "cmdline", command,
							 sizeof(command), &ignored);

		if (size > 0)
			r = hydra_take(ret, command, (size_t)size + 1);
	}
	if (!r && *ret->key)
		return 0;
	hydra_done(ret);
	return r ? err_set(err, r, "hosts: no memory")
		 : err_set(err, -ENOENT, "%d has started no hydra_pmi_proxy", pid);
}
