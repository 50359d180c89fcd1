/*
 * limpet fleet: all ranks of a running job.  The table of its verbs; and limpet fleet ps, the ranks
 * of a job, with the actions possible for each.
 */
#include "host/cli/fleet/fleet.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/threads/thread_state.h"

extern const struct command command_fleet_dump, command_fleet_record, command_fleet_report,
	command_fleet_export, command_fleet_top;

static const struct option_desc ps_options[] = {
	FLEET_OPTIONS(0),
	{ 0 },
};

#define ROW "%6s  %-12s %8s  %-24s %-10s %-8s %s\n"

static void print_rank(const struct fleet *fleet, const struct fleet_rank *rank)
{
	char number[16], pid[16] = "-", program[64];
	const char *state = "", *verdict = "yes";

	snprintf(number, sizeof(number), "%u", rank->number);
	if (rank->pid)
		snprintf(pid, sizeof(pid), "%d", rank->pid);
	snprintf(program, sizeof(program), "%s%s%s", rank->program, *rank->through ? " in " : "",
		 rank->through);
	if (rank->state != RANK_DONE) {
		state = rank_state_name(rank->state);
		verdict = rank->reason;
	} else {
		if (rank->process_state)
			state = thread_state_name(rank->process_state);
		if (*rank->refusal)
			verdict = rank->refusal;
	}
	print(stdout, ROW, number, fleet_node_name(fleet, rank), pid, program, state,
	      *rank->sampler ? rank->sampler : "-", verdict);
}

static int ps_run(const struct command_line *line, struct err *err)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	const struct fleet_values *values = line->values;
	const struct node_request request = { .action = FLEET_PS, .dump.sampler = "" };
	char summary[FLEET_DESCRIBED_MAX];
	int r = fleet_query(values, &request, /* time_ns */ 0, /* listener */ NULL, &fleet, err);

	if (r)
		return r;
	if (fleet.rank_count && !values->is_json) {
		print(stdout, "%s: %s\n", fleet.title, fleet_describe(&fleet, summary));
		print(stdout, ROW, "RANK", "NODE", "PID", "PROGRAM", "STATE", "SAMPLER", "ATTACH");
	}
	/* Ranks without a node are reported together, by fleet_show(). */
	for (size_t i = 0; !values->is_json && i < fleet.rank_count; i++)
		if (fleet.ranks[i].node != NODE_NONE)
			print_rank(&fleet, &fleet.ranks[i]);
	fleet_show(&fleet, values->is_json);
	return fleet_judge_live(&fleet, err);
}

static const struct command command_fleet_ps = {
	.name = "fleet ps",
	.summary = "list the ranks of a running job, and what is allowed with each",
	.usage = FLEET_USAGE " [--json]",
	.options = ps_options,
	.values_size = sizeof(struct fleet_values),
	.defaults = &(const struct fleet_values)FLEET_VALUES,
	.operands = &operands_none,
	.run = ps_run,
	.notes = "examples:\n"
		 "  limpet fleet ps --local\n"
		 "  limpet fleet ps --hosts 'n[1-4]' --match train.py\n",
};

static const struct command *const fleet_verbs[] = {
	&command_fleet_ps,
	&command_fleet_dump,
	&command_fleet_top,
	&command_fleet_record,
	&command_fleet_report,
	&command_fleet_export,
	NULL,
};

const struct command command_fleet = {
	.name = "fleet",
	.summary = "look at all ranks of a running job, on all of its nodes",
	.verbs = fleet_verbs,
	.notes =
		"Ranks are found by the variables that launchers set.  limpet runs itself on each node by\n"
		"ssh, or by any command (--launcher), and leaves nothing there.\n",
};
