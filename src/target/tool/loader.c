/*
 * The handlers run on the thread that forks.  They stay registered for as long as their library is
 * there.
 */
#include "target/tool/loader.h"

#include "shared/arch/syscall.h"
#include "target/runtime/fork_turn.h"

#include <stdint.h>
#include <time.h>

#define HELD_GLANCE_NS 10000000
#define HELD_WAITS     1000 /* such glances: ten seconds */

static struct loader_libc functions;
static char dso_handle; /* by its address libc knows our handlers */
static bool is_registered;
static struct fork_turn turn;
static uint32_t holding; /* those at work that have the loader's lock for certain */
static long user; /* the process whose threads are meant; not its child's that libc knows not of */

/* A child that is forked while we hold the lock finds it locked for ever.  Whoever is at work may
 * also wait for it, for the forking thread itself: that is waited for much shorter. */
static void before_fork(void)
{
	struct timespec glance = { 0, HELD_GLANCE_NS };

	fork_turn_fork_begin(&turn);
	if (__atomic_load_n(&turn.working, __ATOMIC_SEQ_CST) && raw0(SYS_getpid) != user)
		return;
	fork_turn_await(&turn);
	for (unsigned i = 0; __atomic_load_n(&holding, __ATOMIC_SEQ_CST) && i < HELD_WAITS; i++)
		raw2(SYS_nanosleep, &glance, 0);
}

static void after_fork(void)
{
	fork_turn_fork_end(&turn);
}

static void in_child(void)
{
	fork_turn_forget(&turn);
	holding = 0;
}

void loader_use(const struct loader_libc *libc)
{
	functions = *libc;
	if (user != raw0(SYS_getpid))
		in_child();
	user = raw0(SYS_getpid);
	if (is_registered || !functions.register_fork)
		return;
	is_registered = !functions.register_fork(before_fork, after_fork, in_child, &dso_handle);
	if (is_registered)
		fork_turn_settle();
}

struct iteration {
	int (*callback)(struct dl_phdr_info *, size_t, void *);
	void *data;
	bool is_held;
};

/* The lock is ours from the first module on, until the loader returns. */
static int module_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct iteration *iteration = data;

	if (!iteration->is_held)
		__atomic_add_fetch(&holding, 1, __ATOMIC_SEQ_CST);
	iteration->is_held = true;
	return iteration->callback(info, size, iteration->data);
}

int loader_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct iteration iteration = { callback, data, false };
	int r;

	fork_turn_work_begin(&turn);
	r = functions.iterate(module_visit, &iteration);
	if (iteration.is_held)
		__atomic_sub_fetch(&holding, 1, __ATOMIC_SEQ_CST);
	fork_turn_work_end(&turn);
	return r;
}

void *loader_open(const char *name, int flags)
{
	void *handle;

	fork_turn_work_begin(&turn);
	handle = functions.open(name, flags);
	fork_turn_work_end(&turn);
	return handle;
}

int loader_close(void *handle)
{
	int r;

	fork_turn_work_begin(&turn);
	r = functions.close(handle);
	fork_turn_work_end(&turn);
	return r;
}

/* It takes locks of libc's, too. */
void loader_leave_forks(void (*finalize)(void *))
{
	if (!is_registered)
		return;
	fork_turn_work_begin(&turn);
	finalize(&dso_handle);
	is_registered = false;
	fork_turn_work_end(&turn);
}

bool loader_is_in_forks(void)
{
	return is_registered;
}
