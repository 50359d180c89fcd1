/*
 * --slurm JOB[.STEP]: one overlapping step of the job starts a node part on each of its nodes.
 * Slurm allows that to the job's owner only.  Dead nodes are left out: one of them would keep the
 * step from starting.
 */
#include "host/fleet/engine/engine.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/fleet/child.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define ANSWER_MAX (4u << 20)
#define LIMIT_NS   10000000000ull

/* "17", "17.0"; of arrays "17_3". */
static int job_split(const char *word, char **ret_job, char **ret_step, struct err *err)
{
	struct text text = text_of(word), job = text, step = { 0 };
	uint64_t number;
	bool is_sound = text_take_number(&text, 10, &number);

	if (is_sound && text_take_char(&text, '_'))
		is_sound = text_take_number(&text, 10, &number);
	job.end = text.at;
	if (is_sound && text_take_char(&text, '.')) {
		step = text;
		is_sound = text_take_number(&text, 10, &number);
	}
	if (!is_sound || text.at != text.end) {
		return err_usage(
			err,
			"--slurm JOB or --slurm JOB.STEP, numbers as squeue --steps shows them",
			"'%s' is no Slurm job", word);
	}
	*ret_job = strndup(job.at, (size_t)(job.end - job.at));
	*ret_step = strdup(step.at ? step.at : "");
	return *ret_job && *ret_step ? 0 : err_set(err, -ENOMEM, "job: no memory");
}

int slurm_job_parse(const char *line_text, struct slurm_job *ret)
{
	struct text rest = text_of(line_text), line, fields[4];
	uint64_t number;

	if (!text_take_line(&rest, &line))
		return -ESRCH;
	for (unsigned i = 0; i < 3; i++)
		if (!text_take_field(&line, '|', &fields[i]))
			return -EPROTO;
	fields[3] = line; /* empty while it waits */
	text_copy(fields[0], ret->id, sizeof(ret->id));
	text_copy(fields[1], ret->state, sizeof(ret->state));
	ret->user = text_take_number(&fields[2], 10, &number) && number < UINT32_MAX ? (uid_t)number
										     : (uid_t)-1;
	text_copy(fields[3], ret->nodes, sizeof(ret->nodes));
	if ((size_t)(fields[3].end - fields[3].at) >= sizeof(ret->nodes))
		return -E2BIG;
	return text_take_line(&rest, &line) && line.end > line.at ? -EEXIST : 0;
}

static int state_refuse(int r, const char *word, const struct slurm_job *job, struct err *err)
{
	static const struct {
		int code;
		const char *why, *fix;
	} reasons[] = {
		{ -ESRCH, "Slurm does not know it, or not any more", "squeue --me" },
		{ -EEXIST, "these are several jobs of an array",
		  "--slurm JOB_TASK for one of them" },
		{ -E2BIG, "its list of nodes is too long", "--hosts LIST --match NAME" },
		{ -EPROTO, "squeue answers in another form than expected",
		  "--hosts LIST --match NAME" },
	};

	err_set(err, r ? r : -ESRCH, "Slurm job %s cannot be looked at", word);
	err_exit(err, EXIT_NO_PROCESS);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].code == r) {
			err_why(err, "%s", reasons[i].why);
			return err_fix(err, "%s", reasons[i].fix);
		}
	err_why(err, "it is %s", job->state);
	return err_fix(err, "wait until it runs");
}

static int job_query(const char *word, struct slurm_job *ret, struct err *err)
{
	const char *argv[] = {
		"squeue", "--noheader", "--jobs", word, "--format=%A|%T|%U|%N", NULL
	};
	CLEANUP(free) char *text = NULL;
	int r = child_capture(argv, ANSWER_MAX, LIMIT_NS, &text, err);

	if (r == -EIO && strstr(err->why, "Invalid job id"))
		return state_refuse(-ESRCH, word, ret, err);
	if (r)
		return r;
	r = slurm_job_parse(text, ret);
	if (r || strcmp(ret->state, "RUNNING"))
		return state_refuse(r, word, ret, err);
	if (ret->user == geteuid() || ret->user == (uid_t)-1)
		return 0;
	err_set(err, -EPERM, "Slurm job %s is of user %u", word, ret->user);
	err_why(err, "Slurm starts programs in a job for its owner only, not even for root");
	err_fix(err, "as that user: limpet fleet ... --slurm %s", word);
	return err_exit(err, EXIT_NOT_PERMITTED);
}

/* Down, failed, powered off; or not responding, which a star marks. */
static bool state_is_dead(struct text state)
{
	static const char *const dead[] = { "down", "fail", "unk", "powering_down",
					    "powered_down" };
	bool is_dead = state.end > state.at && (state.end[-1] == '*' || state.end[-1] == '~');

	for (size_t i = 0; i < ARRAY_SIZE(dead); i++) {
		struct text rest = state;

		is_dead |= text_take_prefix(&rest, dead[i]);
	}
	return is_dead;
}

/* Dead nodes have a trouble from the beginning. */
int slurm_states_apply(struct fleet_plan *plan, const char *states)
{
	struct text rest = text_of(states), line, name, state;
	char word[32];

	while (text_take_line(&rest, &line)) {
		if (!text_take_word(&line, &name) || !text_take_word(&line, &state) ||
		    !state_is_dead(state))
			continue;
		text_copy_printable(state, word, sizeof(word));
		for (size_t i = 0; i < plan->node_count; i++) {
			struct planned_node *node = &plan->nodes[i];

			if (text_equals(name, node->name) && !node->trouble &&
			    asprintf(&node->trouble, "Slurm says that it is %s", word) < 0) {
				node->trouble = NULL;
				return -ENOMEM;
			}
		}
	}
	return 0;
}

static int slurm_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	struct slurm_job job = { 0 };
	const char *query[] = { "sinfo",   "--noheader",     "--Node", "--nodes",
				job.nodes, "--format=%N %T", NULL };
	CLEANUP(free) char *word = NULL, *states = NULL;
	struct err ignored = { 0 };
	uint64_t random = 0;
	int r = job_split(who->slurm, &word, &ret->step, err);

	/* For the path of the copy. */
	(void)!getrandom(&random, sizeof(random), 0);
	if (!r)
		r = job_query(word, &job, err);
	if (!r && (text_set(&ret->job, job.id) ||
		   asprintf(&ret->key, "/tmp/limpet-%u-%016llx", geteuid(),
			    (unsigned long long)random) < 0 ||
		   asprintf(&ret->title, "Slurm job %s", who->slurm) < 0))
		r = err_set(err, -ENOMEM, "job: no memory");
	if (!r)
		r = plan_add_hosts(ret, job.nodes, err);
	/* If Slurm does not answer, all nodes are contacted. */
	if (!r && !child_capture(query, ANSWER_MAX, LIMIT_NS, &states, &ignored) &&
	    slurm_states_apply(ret, states))
		r = err_set(err, -ENOMEM, "nodes: no memory");
	if (r)
		return r;
	ret->is_one_start = true;
	if (!who->match)
		ret->find.way = FIND_SLURM;
	ret->find.job = ret->job;
	/* As root the kernel refuses nothing, and any user can set the variables of a job. */
	ret->find.has_owner = !geteuid() && job.user != (uid_t)-1;
	ret->find.owner = job.user;
	ret->find.step = ret->step;
	return 0;
}

/* "n1,n2,n4": the living nodes, or all if none lives; the caller frees it; NULL: no memory. */
static char *nodes_join(const struct fleet_plan *plan, size_t *ret_count)
{
	size_t size = 1, living = 0;
	char *list, *at;

	for (size_t i = 0; i < plan->node_count; i++) {
		size += strlen(plan->nodes[i].name) + 1;
		living += !plan->nodes[i].trouble;
	}
	list = at = calloc(1, size);
	*ret_count = living ? living : plan->node_count;
	for (size_t i = 0; list && i < plan->node_count; i++)
		if (!living || !plan->nodes[i].trouble)
			at += sprintf(at, "%s%s", at == list ? "" : ",", plan->nodes[i].name);
	return list;
}

/* A step that shares all resources with the job: it never waits, is pinned nowhere, and its tasks
 * are no MPI processes. */
static void step_begin(struct words *ret, const struct fleet_plan *plan)
{
	size_t count;
	CLEANUP(free) char *nodes = nodes_join(plan, &count);

	words_add_line(ret, "srun --quiet --overlap --ntasks-per-node=1 --cpu-bind=none --mpi=none "
			    "--kill-on-bad-exit=0 --job-name=limpet --chdir=/");
	words_add(ret, "--jobid=%s", plan->job);
	words_add(ret, "--nodes=%zu", count);
	words_add(ret, "--nodelist=%s", nodes ? nodes : "");
	words_add(ret, "--ntasks=%zu", count);
	ret->has_failed |= !nodes;
}

static void slurm_command(struct words *ret, const struct fleet_plan *plan,
			  const struct node_command *command)
{
	step_begin(ret, plan);
	if (command->is_copied) {
		words_add(ret, "--bcast=%s", plan->key);
		words_add(ret, "--send-libs=no");
	}
	engine_command_local(ret, command);
}

/* Slurm does not remove its copies when a broadcast fails on one node. */
static void slurm_remove(struct words *ret, const struct fleet_plan *plan)
{
	step_begin(ret, plan);
	words_add_line(ret, "rm -f");
	words_add_text(ret, plan->key);
}

const struct engine engine_slurm = {
	.name = "--slurm",
	.copy = COPY_BROADCAST,
	.plan = slurm_plan,
	.command = slurm_command,
	.remove = slurm_remove,
};
