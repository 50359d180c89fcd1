/*
 * The handlers run on the thread that forks.
 */
#include "compat/register/forks.h"

#include "target/runtime/fork_turn.h"

#include <pthread.h>

static struct fork_turn turn;
static void (*child_handler)(void);

static void forks_before(void)
{
	fork_turn_fork_begin(&turn);
	fork_turn_await(&turn);
}

static void forks_after(void)
{
	fork_turn_fork_end(&turn);
}

static void forks_in_child(void)
{
	fork_turn_forget(&turn);
	child_handler();
}

void forks_watch(void (*in_child)(void))
{
	child_handler = in_child;
	pthread_atfork(forks_before, forks_after, forks_in_child);
}

void forks_hold(void)
{
	fork_turn_work_begin(&turn);
}

void forks_release(void)
{
	fork_turn_work_end(&turn);
}
