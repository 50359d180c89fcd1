/*
 * Fuzzes what launchers and people say of jobs: Slurm's tables, kubectl's list of pods, hydra's
 * command lines, lists of hosts and of ranks.
 */
#include "fuzz.h"

#include "host/fleet/engine/engine.h"
#include "host/fleet/engine/mpirun.h"
#include "host/fleet/find/job_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void plan_try(const char *text)
{
	static struct slurm_job job;
	struct fleet_plan plan = { 0 };
	int r = slurm_job_parse(text, &job);

	must(r == 0 || r == -ESRCH || r == -EEXIST || r == -E2BIG || r == -EPROTO);
	must(plan_add_node(&plan, "n1"));
	must(!kubernetes_pods_apply(&plan, text));
	must(!slurm_states_apply(&plan, text));
	for (size_t i = 0; i < plan.node_count; i++)
		must(host_name_is_sound(plan.nodes[i].name));
	plan_done(&plan);
}

static void text_try(const char *text)
{
	const struct slurm_steps steps = { "", "1" };
	struct known_rank *ranks = NULL;
	struct rank_set set = { 0 };
	struct hosts hosts = { 0 };
	struct err err;
	size_t count = 0;

	must(!slurm_pids_parse(text, &steps, &ranks, &count));
	for (size_t i = 0; i < count; i++)
		must(ranks[i].pid > 0 && ranks[i].rank <= RANK_MAX);
	free(ranks);
	if (!hosts_parse(&hosts, text, &err))
		for (size_t i = 0; i < hosts.count; i++)
			must(host_name_is_sound(hosts.names[i]));
	hosts_done(&hosts);
	if (!rank_set_parse(&set, text, &err))
		must(set.count && set.items[set.count - 1].last <= RANK_MAX);
	rank_set_done(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hydra hydra = { 0 };
	char text[2048];

	must(!hydra_take(&hydra, (const char *)bytes, size));
	for (size_t i = 0; i < hydra.hosts.count; i++)
		must(host_name_is_sound(hydra.hosts.names[i]));
	hydra_done(&hydra);
	size = MIN(size, sizeof(text) - 1);
	memcpy(text, bytes, size);
	text[size] = '\0';
	text_try(text);
	plan_try(text);
	return 0;
}
