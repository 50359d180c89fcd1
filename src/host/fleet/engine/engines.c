/*
 * All engines, and the choice of one.
 */
#include "host/fleet/engine/engine.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct engine engine_local, engine_slurm, engine_kubernetes, engine_mpirun;
extern const struct engine engine_launcher, engine_ssh;

/* A launcher takes --hosts, too: it comes before ssh. */
const struct engine *const engines[] = {
	&engine_local, &engine_slurm, &engine_kubernetes, &engine_mpirun, &engine_launcher,
	&engine_ssh,   NULL,
};

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

static int who_refuse(bool is_none, struct err *err)
{
	err_set(err, -EINVAL,
		is_none ? "no job is given" : "--top-level and --descendants exclude each other");
	if (is_none)
		err_fix(err,
			"--slurm JOB, --k8s SELECTOR, --mpirun PID, --hosts LIST --match NAME, "
			"--launcher CMD, or --local");
	return err_exit(err, EXIT_USAGE);
}

static int twice_refuse(const struct engine *one, const struct engine *other, struct err *err)
{
	err_set(err, -EINVAL, "two ways to the job are given: %s and %s", one->name, other->name);
	err_fix(err, "leave one of them out");
	return err_exit(err, EXIT_USAGE);
}

/* --hosts is for ssh and for a launcher: it does not conflict with --launcher.  NULL: refused. */
static const struct engine *engine_choose(const struct fleet_who *who, struct err *err)
{
	const struct engine *chosen = NULL;

	for (const struct engine *const *engine = engines; *engine; engine++) {
		if (!(*engine)->is_meant(who))
			continue;
		if (chosen) {
			twice_refuse(chosen, *engine, err);
			return NULL;
		}
		chosen = *engine;
	}
	if (!chosen)
		who_refuse(/* is_none */ true, err);
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
		return who_refuse(/* is_none */ false, err);
	ret->family = who->top_level     ? FAMILY_TOP_LEVEL
		      : who->descendants ? FAMILY_DESCENDANTS
					 : FAMILY_WORKER;
	if (!who->ranks)
		return 0;
	ret->has_ranks = true;
	return rank_set_parse(&ret->ranks, who->ranks, err);
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
	words_add(ret, "%s", command->limpet);
	words_add(ret, "fleet-node");
	words_add(ret, "%s", command->request);
}

/* The copy is in a folder of its own, which is removed with it.  The script needs only sh, mktemp,
 * head, chmod and rm. */
char *node_script(const struct node_command *command)
{
	char *limpet = word_quote(command->limpet), *script = NULL;

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
	free(limpet);
	return script;
}
