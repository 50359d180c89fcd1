/*
 * All engines, and the choice of one.
 */
#include "host/fleet/engine/engine.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/fleet/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

extern const struct engine engine_local, engine_slurm, engine_kubernetes, engine_mpirun;
extern const struct engine engine_launcher, engine_ssh;

void plan_done(struct fleet_plan *plan)
{
	for (size_t i = 0; i < plan->node_count; i++) {
		free(plan->nodes[i].name);
		free(plan->nodes[i].known);
		free(plan->nodes[i].trouble);
	}
	free(plan->nodes);
	free(plan->title);
	free(plan->job);
	free(plan->step);
	free(plan->key);
	rank_set_done(&plan->find.ranks);
	*plan = (struct fleet_plan){ 0 };
}

struct planned_node *plan_add_node(struct fleet_plan *plan, const char *name)
{
	struct planned_node *node;

	if (make_room(&plan->nodes, plan->node_count, &plan->node_room, sizeof(*plan->nodes)))
		return NULL;
	node = &plan->nodes[plan->node_count];
	*node = (struct planned_node){ .name = strdup(name) };
	if (!node->name)
		return NULL;
	plan->node_count++;
	return node;
}

/* NULL: refused. */
static const struct engine *engine_choose(const struct fleet_who *who, struct err *err)
{
	const struct {
		bool is_meant;
		const struct engine *engine;
	} engines[] = {
		{ who->is_local, &engine_local },
		{ who->slurm, &engine_slurm },
		{ who->k8s, &engine_kubernetes },
		{ who->mpirun, &engine_mpirun },
		{ who->launcher, &engine_launcher },
		/* --hosts is for a launcher, too. */
		{ who->hosts && !who->launcher, &engine_ssh },
	};
	const struct engine *chosen = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (!engines[i].is_meant)
			continue;
		if (chosen) {
			err_usage(err, "leave one of them out",
				  "two ways to the job are given: %s and %s", chosen->name,
				  engines[i].engine->name);
			return NULL;
		}
		chosen = engines[i].engine;
	}
	if (!chosen)
		err_usage(err,
			  "--slurm JOB, --k8s SELECTOR, --mpirun PID, --hosts LIST --match NAME, "
			  "--launcher CMD, or --local",
			  "no job is given");
	return chosen;
}

/* Processes by name if one is given, else by their variables. */
static int find_fill(struct find_options *ret, const struct fleet_who *who, struct err *err)
{
	*ret = (struct find_options){ .way = who->match ? FIND_NAME : FIND_VARIABLES,
				      .name = who->match ? who->match : "",
				      .variable = who->variable ? who->variable : "",
				      .job = "",
				      .step = "",
				      .key = "" };
	if (who->top_level && who->descendants)
		return err_usage(err, NULL, "--top-level and --descendants exclude each other");
	ret->family = who->top_level     ? FAMILY_TOP_LEVEL
		      : who->descendants ? FAMILY_DESCENDANTS
					 : FAMILY_WORKER;
	if (!who->ranks)
		return 0;
	ret->has_ranks = true;
	return rank_set_parse(&ret->ranks, who->ranks, err);
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

int plan_make(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	struct fleet_plan plan = { .engine = engine_choose(who, err), .launcher = who->launcher };
	int r;

	if (!plan.engine)
		return err->code;
	r = find_fill(&plan.find, who, err);
	if (!r)
		r = plan.engine->plan(&plan, who, err);
	if (r)
		plan_done(&plan);
	else
		*ret = plan;
	return r;
}

void engine_command_local(struct words *ret, const struct node_command *command)
{
	words_add_text(ret, command->limpet);
	words_add_text(ret, "fleet-node");
	words_add_text(ret, command->request);
}

/* The copy is in a folder of its own, which is removed with it.  The script needs only sh, mktemp,
 * head, chmod and rm. */
char *node_script(const struct node_command *command)
{
	CLEANUP(free) char *limpet = word_quote(command->limpet);
	char *script = NULL;

	if (limpet &&
	    asprintf(&script,
		     "p=%s; [ -n '%s' ] || { [ -x \"$p\" ] && exec \"$p\" fleet-node %s; }; "
		     "d=$(mktemp -d \"${TMPDIR:-/tmp}/limpet.XXXXXXXX\") || exit 1; "
		     "trap 'rm -rf \"$d\"' EXIT; trap 'exit 1' HUP INT TERM; "
		     "echo " SCRIPT_SENDS "; head -c %llu >\"$d/limpet\" && "
		     "chmod 700 \"$d/limpet\" && \"$d/limpet\" fleet-node %s",
		     limpet, command->is_copied ? "copy" : "", command->request,
		     (unsigned long long)command->size_bytes, command->request) < 0)
		script = NULL;
	return script;
}
