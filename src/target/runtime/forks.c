/*
 * The handlers run on the forking thread.
 */
#include "target/runtime/forks.h"

#include <stddef.h>

void (*forks_in_child)(void);

static struct fork_turn own;
static struct fork_turn *turn; /* NULL: no handlers */

static void forks_before(void)
{
	fork_turn_fork_begin(&own);
}

static void forks_after(void)
{
	fork_turn_fork_end(&own);
}

static void forks_in_own_child(void)
{
	fork_turn_forget(&own);
	if (forks_in_child)
		forks_in_child();
}

struct fork_turn *forks_turn(void)
{
	return __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
}

static bool turn_claim(struct fork_turn *given)
{
	struct fork_turn *unowned = NULL;

	return __atomic_compare_exchange_n(&turn, &unowned, given, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

void forks_share(struct fork_turn *given)
{
	if (given)
		turn_claim(given);
}

/* Claims the turn before it registers the handlers, so that they are registered once. */
void forks_watch(forks_add_function *add, const char *glibc_version, bool is_alone)
{
	if (!add || !turn_claim(&own))
		return;
	if (add(forks_before, forks_after, forks_in_own_child))
		__atomic_store_n(&turn, NULL, __ATOMIC_RELEASE);
	else
		fork_turn_open(&own, glibc_version, is_alone);
}

void forks_part(void)
{
	if (forks_turn() != &own)
		__atomic_store_n(&turn, NULL, __ATOMIC_RELEASE);
}

void forks_allow_calls(bool may_call)
{
	struct fork_turn *now = forks_turn();

	if (now)
		__atomic_store_n(&now->may_call, may_call, __ATOMIC_SEQ_CST);
}

struct fork_work forks_hold(void)
{
	struct fork_turn *now = forks_turn();

	return now ? fork_turn_begin(now) : (struct fork_work){ 0, -1 };
}

void forks_release(struct fork_work work)
{
	struct fork_turn *now = forks_turn();

	if (now)
		fork_turn_end(now, work);
}

void forks_pass(struct fork_work work)
{
	struct fork_turn *now = forks_turn();

	if (now)
		fork_turn_pass(now, work);
}

void forks_hold_firmly(bool is_held)
{
	struct fork_turn *now = forks_turn();

	if (now && is_held)
		fork_turn_hold(now);
	else if (now)
		fork_turn_release(now);
}
