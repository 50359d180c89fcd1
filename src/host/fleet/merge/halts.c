/*
 * Finds ranks that cannot run, by the states of their processes and first threads.
 */
#include "host/fleet/merge/halts.h"

#include "host/core/threads/thread_state.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
	char state; /* of the process; 0: unknown */
	const char *name, *cause;
} halts[HALTS] = {
	[HALT_NONE] = { 0, "", "" },
	[HALT_STOPPED] = { 'T', "stopped", "by a signal: kill -CONT PID continues it" },
	[HALT_TRACED] = { 't', "traced", "stopped by a debugger or tracer" },
	[HALT_FROZEN] = { STATE_FROZEN, "frozen", "by its control group: thaw that" },
	[HALT_ZOMBIE] = { 'Z', "zombie", "it has ended, and its parent has not collected it" },
	[HALT_ENDED] = { 'X', "ended", "there is no such process any more" },
};

const char *halt_name(enum halt halt)
{
	return halts[halt < HALTS ? halt : HALT_NONE].name;
}

const char *halt_cause(enum halt halt)
{
	return halts[halt < HALTS ? halt : HALT_NONE].cause;
}

static enum halt halt_of(char state)
{
	enum halt halt = HALTS - 1;

	while (halt != HALT_NONE && (!state || halts[halt].state != state))
		halt--;
	return halt;
}

static int compare_halted(const void *a, const void *b)
{
	const struct halted *left = a, *right = b;

	if (left->halt != right->halt)
		return left->halt < right->halt ? -1 : 1;
	if (left->rank->node != right->rank->node)
		return left->rank->node < right->rank->node ? -1 : 1;
	return (left->rank->number > right->rank->number) -
	       (left->rank->number < right->rank->number);
}

/* Every rank, by its index in the fleet. */
static void ranks_judge(struct halted *items, const struct fleet_dump *dump,
			const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->rank_count; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];
		enum halt halt = halt_of(rank->process_state);

		/* A first thread that has ended is a zombie as well, while other threads of its
		 * process run. */
		if (halt == HALT_ZOMBIE && rank->threads > 1)
			halt = HALT_NONE;
		if (halt == HALT_NONE && rank->state == RANK_ENDED)
			halt = HALT_ENDED;
		items[i] = (struct halted){ halt, rank };
	}
	/* A thread's state is newer than its process's, but no state of a thread shows that it is
	 * frozen. */
	for (size_t i = 0; i < dump->count; i++) {
		const struct seen_thread *thread = &dump->threads[i];
		const struct fleet_rank *rank = fleet_find_rank(fleet, thread->node, thread->top);
		struct halted *item = rank ? &items[rank - fleet->ranks] : NULL;

		if (!item || !thread->is_first)
			continue;
		if (thread_is_stopped(thread))
			item->halt = halt_of(thread->state);
		else if (item->halt == HALT_STOPPED || item->halt == HALT_TRACED)
			item->halt = HALT_NONE;
	}
}

int halts_find(struct halted_ranks *ret, const struct fleet_dump *dump, const struct fleet *fleet)
{
	struct halted *items = calloc(fleet->rank_count + 1, sizeof(*items));

	*ret = (struct halted_ranks){ .items = items };
	if (!items)
		return -ENOMEM;
	ranks_judge(items, dump, fleet);
	for (size_t i = 0; i < fleet->rank_count; i++)
		if (items[i].halt != HALT_NONE)
			items[ret->count++] = items[i];
	if (ret->count)
		qsort(items, ret->count, sizeof(*items), compare_halted);
	return 0;
}

void halts_done(struct halted_ranks *ranks)
{
	free(ranks->items);
	*ranks = (struct halted_ranks){ 0 };
}
