/*
 * Sends a request to a fleet, and shows its nodes and ranks: which of them did not answer.
 */
#include "host/cli/fleet/fleet.h"

#include "host/core/cleanup.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/threads/thread_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS_SHOWN          160u
#define RECORDINGS_HEARD_MAX ((uint64_t)4 << 30)
#define TOP_HEARD_MAX        ((uint64_t)64 << 30) /* 30 days of 24 KiB a second */

/* --ranks must not select by numbers that limpet assigned in the order of processes. */
static int numbers_check(const struct fleet *fleet, const char *ranks, struct err *err)
{
	size_t unnumbered = 0;

	for (size_t i = 0; ranks && i < fleet->rank_count; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];

		if (rank->node != NODE_NONE && rank->is_told)
			return 0;
		unnumbered += rank->node != NODE_NONE;
	}
	if (!unnumbered)
		return 0;
	err_usage(err, "leave --ranks out, or name their variable: --rank-variable NAME",
		  "--ranks %s: %zu process%s found, and none has a rank number", ranks,
		  fleet->rank_count, fleet->rank_count == 1 ? " was" : "es were");
	return err_why(
		err,
		"no launcher and no variable numbers them, so limpet cannot tell which ones are "
		"meant; none was touched");
}

int fleet_query(const struct fleet_values *values, const struct node_request *request,
		uint64_t time_ns, const struct fleet_job_listener *listener, struct fleet *fleet,
		struct err *err)
{
	CLEANUP(plan_done) struct fleet_plan plan = { 0 };
	CLEANUP(close) int signals = -1;
	struct fleet_job_options options = { .plan = &plan,
					     .request = *request,
					     .limpet = values->limpet,
					     .is_copied = values->copy,
					     .version = LIMPET_VERSION,
					     .limit_ns = time_ns + values->timeout_ns };
	int r = plan_make(&plan, &values->who, err);

	if (r)
		return r;
	signals = interrupt_watch(/* before_end */ NULL, err);
	if (signals < 0)
		return signals;
	options.signals = signals;
	options.request.limit_ns = options.limit_ns;
	options.request.rank_limit_ns = values->timeout_ns / 2;
	if (request->action == FLEET_TOP)
		options.piece_max = TOP_HEARD_MAX;
	/* Recordings may be large, and take long to finish. */
	if (request->action == FLEET_RECORD) {
		options.leave_ns = values->timeout_ns;
		options.piece_max = RECORDINGS_HEARD_MAX;
	}
	if (listener)
		options.listener = *listener;
	r = fleet_job_run(&options, fleet, err);
	return r ? r : numbers_check(fleet, values->who.ranks, err);
}

const char *fleet_node_name(const struct fleet *fleet, const struct fleet_rank *rank)
{
	return rank->node == NODE_NONE ? "?" : fleet->nodes[rank->node].name;
}

static int compare_reasons(const struct fleet_rank *left, const struct fleet_rank *right)
{
	return left->state != right->state ? (int)left->state - (int)right->state
					   : strcmp(left->reason, right->reason);
}

/* Groups equal states and reasons, sorted by number. */
static int compare_failures(const void *a, const void *b)
{
	const struct fleet_rank *left = *(const struct fleet_rank *const *)a;
	const struct fleet_rank *right = *(const struct fleet_rank *const *)b;
	int r = compare_reasons(left, right);

	return r ? r : (left->number > right->number) - (left->number < right->number);
}

/* Failed ranks by reason: a job may have a quarter of a million of them. */
static void print_failed_ranks(const struct fleet *fleet)
{
	CLEANUP(free)
	const struct fleet_rank **failed =
		calloc(fleet->rank_count + 1, sizeof(struct fleet_rank *));
	char text[RANKS_SHOWN];
	size_t count = 0;

	for (size_t i = 0; failed && i < fleet->rank_count; i++)
		if (!rank_is_good(&fleet->ranks[i]))
			failed[count++] = &fleet->ranks[i];
	if (count)
		qsort(failed, count, sizeof(struct fleet_rank *), compare_failures);
	for (size_t i = 0, end; i < count; i = end) {
		CLEANUP(rank_set_done) struct rank_set group = { 0 };

		for (end = i; end < count && !compare_reasons(failed[i], failed[end]); end++)
			(void)!rank_set_add(&group, failed[end]->number); /* else it is missing */
		print(stderr, "%s: %lu:[%s] %s\n", rank_state_name(failed[i]->state),
		      rank_set_size(&group), rank_set_describe(&group, text, sizeof(text)),
		      failed[i]->reason);
	}
}

static void print_failures(const struct fleet *fleet)
{
	fflush(stdout);
	print_failed_ranks(fleet);
	for (size_t i = 0; i < fleet->node_count; i++) {
		const struct fleet_node *node = &fleet->nodes[i];

		if (node->phase != NODE_ENDED && !node->rank_count)
			print(stderr, "node %s: %s\n", node->name, node->trouble);
		for (size_t k = 0; k < node->note_count; k++)
			print(stderr, "note: %s: %s\n", node->name, node->notes[k]);
		if (node->lost_lines)
			print(stderr, "warning: %s: %lu line%s damaged on the way\n", node->name,
			      node->lost_lines, plural(node->lost_lines));
	}
}

static void write_node(const struct fleet_node *node)
{
	static const char *const phases[] = { [NODE_SILENT] = "silent",
					      [NODE_GREETED] = "speaks",
					      [NODE_ENDED] = "done",
					      [NODE_LOST] = "lost" };
	struct json json = json_event(stdout, "node");

	json_text(&json, "node", node->name);
	json_text(&json, "state", phases[node->phase]);
	json_text(&json, "trouble", node->trouble);
	json_text(&json, "limpet", node->version);
	json_text(&json, "machine", node->machine);
	json_text(&json, "kernel", node->kernel);
	json_number(&json, "processors", node->processors);
	json_number(&json, "ranks", node->rank_count);
	json_bool(&json, "clock_synchronized", node->is_synchronized);
	json_number(&json, "clock_error_ns", node->clock_error_ns);
	json_number(&json, "lost_lines", node->lost_lines);
	json_list(&json, "notes");
	for (size_t i = 0; i < node->note_count; i++)
		json_text(&json, NULL, node->notes[i]);
	json_list_end(&json);
	json_object_end(&json);
}

static void write_rank(const struct fleet *fleet, const struct fleet_rank *rank)
{
	struct json json = json_event(stdout, "rank");

	json_number(&json, "rank", rank->number);
	json_bool(&json, "numbered", rank->is_told);
	json_text(&json, "node", fleet_node_name(fleet, rank));
	json_signed(&json, "pid", rank->pid);
	json_text(&json, "state", rank_state_key(rank->state));
	json_text(&json, "reason", rank->reason);
	json_text(&json, "program", rank->program);
	json_text(&json, "command", rank->command);
	json_text(&json, "user", rank->user);
	json_text(&json, "through", rank->through);
	json_text(&json, "variable", rank->variable);
	json_number(&json, "size", rank->size);
	json_number(&json, "threads", rank->threads);
	json_text(&json, "process_state",
		  rank->process_state ? thread_state_name(rank->process_state) : "");
	json_text(&json, "sampler", rank->sampler);
	json_text(&json, "no_better_sampler", rank->sampler_reasons);
	json_text(&json, "no_attach", rank->refusal);
	json_object_end(&json);
}

void fleet_show(const struct fleet *fleet, bool is_json)
{
	if (!is_json) {
		print_failures(fleet);
		return;
	}
	for (size_t i = 0; i < fleet->node_count; i++)
		write_node(&fleet->nodes[i]);
	for (size_t i = 0; i < fleet->rank_count; i++)
		write_rank(fleet, &fleet->ranks[i]);
}

int fleet_judge_live(const struct fleet *fleet, struct err *err)
{
	int r = fleet_judge(fleet, err);

	if (r && err->exit == EXIT_PARTLY)
		err_fix(err, "limpet fleet ps shows each rank and why");
	return r;
}

const char *fleet_describe(const struct fleet *fleet, char ret[FLEET_DESCRIBED_MAX])
{
	snprintf(ret, FLEET_DESCRIBED_MAX, "%zu rank%s on %zu node%s", fleet->rank_count,
		 plural(fleet->rank_count), fleet->node_count, plural(fleet->node_count));
	return ret;
}

const struct operand_rule fleet_folder_operand = { 1, 1, "no folder of a recorded fleet is given",
						   "the DIR of: limpet fleet record -o DIR" };
