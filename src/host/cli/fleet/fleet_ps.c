/*
 * limpet fleet ps: the ranks of a job, and the actions possible for each.
 */
#include "host/cli/command.h"
#include "host/cli/fleet/fleet.h"
#include "host/cli/report.h"
#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/threads/thread_state.h"

#include <inttypes.h>
#include <stdio.h>

static const struct option_desc ps_options[] = {
	FLEET_OPTIONS(0),
	{ 0 },
};

#define ROW "%6s  %-12s %8s  %-24s %-10s %-8s %s\n"

/* Its state, or why that is not known. */
static const char *state_of(const struct fleet_rank *rank)
{
	if (rank->state != RANK_DONE)
		return rank_state_name(rank->state);
	return rank->process_state ? thread_state_name(rank->process_state) : "";
}

static void print_rank(const struct fleet *fleet, const struct fleet_rank *rank)
{
	char number[16], pid[16], program[64];

	snprintf(number, sizeof(number), "%u", rank->number);
	snprintf(pid, sizeof(pid), "%d", rank->pid);
	snprintf(program, sizeof(program), "%s%s%s", rank->program, *rank->through ? " in " : "",
		 rank->through);
	print(stdout, ROW, number, fleet_node_name(fleet, rank), rank->pid ? pid : "-", program,
	      state_of(rank), *rank->sampler ? rank->sampler : "-",
	      rank->state != RANK_DONE ? rank->reason
	      : *rank->refusal         ? rank->refusal
				       : "yes");
}

static void print_ranks(const struct fleet *fleet)
{
	print(stdout, "%s: %zu rank%s on %zu node%s\n", fleet->title, fleet->rank_count,
	      plural(fleet->rank_count), fleet->node_count, plural(fleet->node_count));
	print(stdout, ROW, "RANK", "NODE", "PID", "PROGRAM", "STATE", "SAMPLER", "ATTACH");
	/* Ranks without a node are reported together, by fleet_tell_failures(). */
	for (size_t i = 0; i < fleet->rank_count; i++)
		if (fleet->ranks[i].node != NODE_NONE)
			print_rank(fleet, &fleet->ranks[i]);
}

static enum exit_code ps_run(char **argv)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	struct fleet_values values = FLEET_VALUES;
	const struct node_request request = { .action = FLEET_PS, .dump.sampler = "" };
	struct err err = { 0 };
	int operands = options_parse(ps_options, argv, &values, &err);

	if (!fleet_check_operands(operands, argv, &err) &&
	    !fleet_ask(&values, &request, /* time_ns */ 0, /* listener */ NULL, &fleet, &err)) {
		if (values.is_json)
			fleet_write_json(&fleet);
		else if (fleet.rank_count)
			print_ranks(&fleet);
		if (!values.is_json)
			fleet_tell_failures(&fleet);
		(void)!fleet_judge_live(&fleet, &err);
	}
	return report_end("fleet ps", values.is_json, &err);
}

const struct command command_fleet_ps = {
	.name = "fleet ps",
	.summary = "list the ranks of a running job, and what is allowed with each",
	.usage = FLEET_USAGE " [--json]",
	.options = ps_options,
	.run = ps_run,
	.notes = "examples:\n"
		 "  limpet fleet ps --local\n"
		 "  limpet fleet ps --hosts 'n[1-4]' --match train.py\n",
};
